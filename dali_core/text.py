"""Texts in files as data sets: samples by index, outside of pipelines and for `fn.readers.python`.

`fn.readers.jsonl` and `fn.readers.text` read the same samples.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._call.arguments import check_arguments
from dali_core._readers.formats.jsonl import JsonLines as _JsonLinesFormat
from dali_core._readers.formats.text import Text
from dali_core._readers.protocol import Fetcher
from dali_core._readers.python_reader import Format, python_reader
from dali_core._storage import make_storage

__all__ = ["JsonLines", "TextLines"]

_Path = str | os.PathLike[str]


class _Texts:
    """Samples of a format, by index; several threads may fetch them at a time."""

    def __init__(
        self, form: Format, paths: _Path | Sequence[_Path], arguments: dict[str, Any]
    ) -> None:
        given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
        keywords = {"paths": [os.fspath(path) for path in given], **arguments}
        _, spec = python_reader(form)
        checked, _ = check_arguments(spec, keywords, type(self).__name__)
        self._form = form
        self._arguments = checked
        self._source = form.open(checked, make_storage(checked))
        self._fetchers = threading.local()

    def __len__(self) -> int:
        return len(self._source)

    def __reduce__(self) -> Any:
        return _opened, (type(self), self._arguments)

    @property
    def lengths(self) -> NDArray[np.int64] | None:
        """The number of bytes of each sample in its file, an estimate; None if it is not known."""
        return self._source.lengths

    def fetch_many(self, indices: Sequence[int]) -> list[tuple[NDArray[Any], ...]]:
        """Return some samples, a tuple with an array of each field.

        Parameters
        ----------
        indices : sequence of int
            Their numbers.

        Raises
        ------
        IndexError
            If there is no such sample.
        ValueError
            If one cannot be read; the error names file and line.
        """
        for index in indices:
            if not 0 <= index < len(self):
                raise IndexError(
                    f"indices: must be from 0 to {len(self) - 1}, of the {len(self)} samples (got "
                    f"{index}). Count from 0."
                )
        fetcher: Fetcher | None = getattr(self._fetchers, "own", None)
        if fetcher is None:
            fetcher = self._fetchers.own = self._form.fetcher(self._source, self._arguments)
        samples = fetcher.fetch_many(indices)
        assert samples is not None
        return list(samples)

    def texts(self, indices: Sequence[int]) -> list[str]:
        """Return the texts of some samples, of the first field; raises like `fetch_many`."""
        return [sample[0].tobytes().decode() for sample in self.fetch_many(indices)]


class JsonLines(_Texts):
    """Fields of JSON objects, one object a line; see `fn.readers.jsonl`.

    Parameters
    ----------
    paths : path, URL, or sequence of these
        The files.
    fields : str or sequence of str
        Names of the fields.
    **arguments
        Other arguments of `fn.readers.jsonl` that say which samples there are, such as `dtypes`
        and `storage_options`.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If an argument is wrong, or a file cannot be read.
    """

    def __init__(
        self, paths: _Path | Sequence[_Path], fields: str | Sequence[str], **arguments: Any
    ) -> None:
        super().__init__(_JsonLinesFormat(), paths, {"fields": fields, **arguments})


class TextLines(_Texts):
    """Lines of texts, or whole texts; see `fn.readers.text`.

    Parameters
    ----------
    paths : path, URL, or sequence of these
        The files.
    **arguments
        Other arguments of `fn.readers.text` that say which samples there are, such as `sample_by`
        and `skip_blank_lines`.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If an argument is wrong, or a file cannot be read.
    """

    def __init__(self, paths: _Path | Sequence[_Path], **arguments: Any) -> None:
        super().__init__(Text(), paths, arguments)


def _opened(kind: type[_Texts], arguments: dict[str, Any]) -> _Texts:
    """Open a data set in another process."""
    own = _JsonLinesFormat() if kind is JsonLines else Text()
    names = {arg.name for arg in own.args} & set(arguments)
    return kind(**{name: arguments[name] for name in names})
