"""The format of `fn.readers.text`: lines of texts, or whole texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._readers.protocol import DataSource, Fetcher
from dali_core._readers.python_reader import Format
from dali_core._readers.texts.json_fields import decoded
from dali_core._readers.texts.line_index import TextFiles
from dali_core._readers.texts.lines import LineFetcher, TextLines
from dali_core._readers.texts.text_args import LINES_DOC, MAX_SAMPLE_BYTES, PATHS
from dali_core._runtime.thread_start import map_in_threads
from dali_core._spec import Arg
from dali_core._storage import STORAGE_ARGS, Storage, is_url
from dali_core._storage.failures import problem_of
from dali_core.errors import ArgumentConflictError, ArgumentValueError

_MARK = b"\xef\xbb\xbf"  # of the byte order, which UTF-8 does not need
_SUFFIXES = (".gz", ".gzip", ".zst", ".zstd")


class Text(Format):
    """Lines of texts, or whole texts."""

    name = "readers.text"
    doc = f"""Read texts: a sample is a line, or a whole file.

Samples are 1-D arrays of uint8, the bytes of a text in UTF-8, without a byte order mark. Lines end
with a line feed, or with a carriage return and a line feed, which are not part of the sample; the
last one need not. A text that is not in UTF-8, or longer than `max_sample_bytes`, is a bad sample.
Errors name file and line.

{LINES_DOC} Whole files are decompressed in memory instead.

Returns
-------
DataNode
    The texts."""
    args = (
        PATHS,
        Arg(
            "sample_by",
            str,
            'What a sample is: ``"line"``, or ``"document"`` for a whole file.',
            "line",
            choices=("line", "document"),
        ),
        Arg(
            "skip_blank_lines",
            bool,
            "Leave out lines without anything but spaces and tabs.",
            False,
        ),
        MAX_SAMPLE_BYTES,
        *STORAGE_ARGS,
    )

    def open(self, arguments: Mapping[str, Any], storage: Storage) -> DataSource:
        """List the lines or the files."""
        skips_blank = arguments["skip_blank_lines"]
        files = TextFiles(arguments["paths"], storage)
        if arguments["sample_by"] == "document":
            if skips_blank:
                raise ArgumentConflictError(
                    'skip_blank_lines must be False with sample_by="document" (got True), of which '
                    "nothing is left out. Leave out one."
                )
            return Documents(files, storage)
        source = TextLines(files, files.find_lines(skips_blank=skips_blank), storage)
        if not len(source):
            raise ArgumentValueError(
                f"paths must be files with at least one line (got {len(files.paths)} without any). "
                "Check them."
            )
        return source

    def fetcher(self, source: DataSource, arguments: Mapping[str, Any]) -> Fetcher:
        """Read lines or files."""
        if isinstance(source, Documents):
            return _DocumentFetcher(source, arguments["max_sample_bytes"])
        assert isinstance(source, TextLines)
        return LineFetcher(source, _parse, arguments["max_sample_bytes"])


class Documents(DataSource):
    """Whole files, in their order.

    Parameters
    ----------
    files : TextFiles
        The files.
    storage : Storage
        What reads those that are URLs.
    """

    def __init__(self, files: TextFiles, storage: Storage) -> None:
        self.files = files
        self.reads = storage

    def __len__(self) -> int:
        return len(self.files.paths)

    @property
    def lengths(self) -> NDArray[np.int64] | None:
        """The number of bytes of each file; None if one is compressed, by its name."""
        if any(path.lower().endswith(_SUFFIXES) for path in self.files.paths):
            return None
        return np.array(self.files.sizes(), np.int64)


class _DocumentFetcher(Fetcher):
    def __init__(self, source: Documents, max_bytes: int) -> None:
        self._source = source
        self._max_bytes = max_bytes

    def fetch_many(self, indices: Sequence[int]) -> list[tuple[Any, ...]]:
        """Return some texts; raises for the first that cannot be one."""
        options = self._source.reads.options
        num_threads = min(len(indices), options.max_in_flight)
        is_remote = any(is_url(self._source.files.paths[index]) for index in indices)
        if is_remote and num_threads > 1:
            return list(map_in_threads(self._read, indices, num_threads))
        return [self._read(index) for index in indices]

    def _read(self, index: int) -> tuple[Any, ...]:
        files = self._source.files
        path = files.paths[index]
        found = bytearray()
        try:
            for piece in files.pieces(index):
                found += piece
                if len(found) > self._max_bytes:
                    raise ValueError(
                        f"the text must have at most {self._max_bytes} bytes (got more). Raise "
                        "max_sample_bytes, or divide the file."
                    )
            return _parse(bytes(found.removeprefix(_MARK)))
        except ValueError as error:
            raise ValueError(f"{path!r}: {error}") from error
        except OSError as error:
            raise ValueError(f"{path!r}: {error.strerror or error}") from error
        except Exception as error:
            raise ValueError(problem_of(path, error)) from error


def _parse(text: bytes) -> tuple[Any, ...]:
    decoded(text)
    return (np.frombuffer(text, np.uint8),)
