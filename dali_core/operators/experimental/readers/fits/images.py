"""Reads images of FITS files with Astropy."""

from __future__ import annotations

import io
from typing import Any, BinaryIO

import numpy as np

from dali_core._runtime.step import Step
from dali_core._storage import Storage, StoredSource, is_url, join_path
from dali_core.errors import ArgumentValueError, MissingModuleError
from dali_core.operators.readers.listed_files import ListedFiles
from dali_core.operators.readers.python.step import FetchingStep


class FitsImages:
    """The images of some parts of each file.

    Parameters
    ----------
    files : ListedFiles
        The files.
    parts : list of int
        Numbers of the parts, from 1.
    storage : Storage or None
        What reads those whose paths are URLs, if there are any.
    """

    def __init__(self, files: ListedFiles, parts: list[int], storage: Storage | None) -> None:
        self._files = files
        self._storage = storage
        self._parts = parts

    def __len__(self) -> int:
        return len(self._files)

    def fetch(self, index: int) -> tuple[Any, ...]:
        """Read the images of a file."""
        from astropy.io import fits

        name = self._files.files[index]
        try:
            with self._opened(name) as file, fits.open(file, memmap=False) as parts:
                return tuple(_image(parts, number) for number in self._parts)
        except Exception as error:
            raise ValueError(
                f"{name!r} must be a FITS file with an image in parts "
                f"{', '.join(map(str, self._parts))} ({error}). Check the file and hdu_indices."
            ) from error

    def _opened(self, name: str) -> BinaryIO:
        # Given a name, Astropy takes more for URLs than we do, such as " http:/server".
        path = join_path(self._files.root, name)
        if self._storage is None or not is_url(path):
            return open(path, "rb")
        return io.BytesIO(self._storage.read(path))


class _ImagesStep(FetchingStep):
    """Fetches the images of files."""

    def __init__(self, parts: list[int], dtypes: Any) -> None:
        super().__init__(
            {"source": None, "num_outputs": len(parts), "parallel": False, "dtype": dtypes}
        )
        self._parts = parts

    def use_source(self, source: ListedFiles | StoredSource) -> None:
        """Read these files."""
        if isinstance(source, StoredSource):
            self._fetching.source = FitsImages(source.source, self._parts, source.storage)
        else:
            self._fetching.source = FitsImages(source, self._parts, None)


def _image(parts: Any, number: int) -> Any:
    if number > len(parts):
        raise ValueError(f"it has {len(parts)} parts")
    part = parts[number - 1]
    if not part.is_image or part.data is None:
        raise ValueError(f"part {number} is no image")
    return np.ascontiguousarray(part.data, part.data.dtype.newbyteorder("="))


def make_step(arguments: dict[str, Any]) -> Step:
    """Make the step that reads files, from the checked arguments of the operator.

    Raises
    ------
    MissingModuleError
        If Astropy is not installed.
    ArgumentValueError
        If `dtypes` are not as many as the parts.
    """
    try:
        import astropy.io.fits  # noqa: F401
    except ImportError as error:
        raise MissingModuleError(
            f"reading FITS files needs Astropy (got none: {error}). Install it: "
            'pip install "dali_core[fits]".'
        ) from error
    parts, dtypes = arguments["hdu_indices"], arguments.get("dtypes")
    if dtypes is not None and len(dtypes) != len(parts):
        raise ArgumentValueError(
            f"dtypes must have an entry for each of the {len(parts)} hdu_indices (got "
            f"{len(dtypes)}). Pass as many."
        )
    return _ImagesStep(parts, dtypes)
