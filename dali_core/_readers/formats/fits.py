"""The format of `fn.experimental.readers.fits`: images of FITS files."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np

from dali_core import _types as types
from dali_core._extras import install_command
from dali_core._readers.protocol import DataSource, Fetcher
from dali_core._readers.python_reader import Format
from dali_core._spec import UNSET, Arg, Range
from dali_core._storage import Storage, is_url, join_path
from dali_core.errors import ArgumentValueError, MissingModuleError
from dali_core.operators.readers.listed_files import ListedFiles, file_args, list_files

_FILE_ARGS = file_args("*.fits")


class Fits(Format):
    """Images of FITS files, read by Astropy."""

    name = "experimental.readers.fits"
    doc = """Read images from FITS files.

Files are read by Astropy (the extra is `fits`), one after the other, by a thread that runs Python.
Images may be compressed. Those that are scaled (``BSCALE``, ``BZERO``) have the values that are
meant. Errors name the file.

Returns
-------
DataNode or list of DataNode
    The images, in C order; a list if there are several for each file."""
    args = (
        *_FILE_ARGS,
        Arg(
            "hdu_indices",
            list[int],
            "Which parts of a file have the images, counted from 1, the primary one. By default "
            "the first after it.",
            default=[2],
            range=Range(1),
            length=Range(1, 4096),
        ),
        Arg(
            "dtypes",
            list[types.DALIDataType],
            "Type that the data must have: one for each of `hdu_indices`. By default any.",
            default=UNSET,
        ),
    )
    listing_args = _FILE_ARGS

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Check that Astropy is installed, and that there are as many dtypes as parts."""
        try:
            import astropy.io.fits  # noqa: F401
        except ImportError as error:
            raise MissingModuleError(
                f"reading FITS files needs Astropy (got none: {error}). Install it: "
                f"{install_command('fits')}."
            ) from error
        parts, dtypes = arguments["hdu_indices"], arguments.get("dtypes")
        if dtypes is not None and len(dtypes) != len(parts):
            raise ArgumentValueError(
                f"dtypes must have an entry for each of the {len(parts)} hdu_indices (got "
                f"{len(dtypes)}). Pass as many."
            )

    def open(self, arguments: Mapping[str, Any], storage: Storage) -> DataSource:
        """List the files."""
        return _Files(**vars(list_files(dict(arguments), storage)), reads=storage)

    def num_outputs(self, arguments: Mapping[str, Any]) -> int:
        """Return the number of images of a file."""
        return len(arguments["hdu_indices"])

    def dtype(self, arguments: Mapping[str, Any]) -> Any:
        """Return the types that images must have."""
        return arguments.get("dtypes")

    def fetcher(self, source: DataSource, arguments: Mapping[str, Any]) -> Fetcher:
        """Read the images of some parts of each file."""
        assert isinstance(source, _Files)
        return _Images(source, arguments["hdu_indices"])


@dataclass(frozen=True)
class _Files(ListedFiles):
    reads: Storage = field(kw_only=True)

    def native_arguments(self) -> dict[str, Any]:
        return {"sample_names": self.files.address}

    def open_file(self, name: str) -> BinaryIO:
        # Given a name, Astropy takes more for URLs than we do, such as " http:/server".
        path = join_path(self.root, name)
        return io.BytesIO(self.reads.read(path)) if is_url(path) else open(path, "rb")


class _Images(Fetcher):
    def __init__(self, source: _Files, parts: list[int]) -> None:
        self._source = source
        self._parts = parts

    def fetch(self, index: int) -> tuple[Any, ...]:
        """Read the images of a file."""
        from astropy.io import fits

        name = self._source.files[index]
        try:
            with self._source.open_file(name) as file, fits.open(file, memmap=False) as parts:
                return tuple(_image(parts, number) for number in self._parts)
        except Exception as error:
            raise ValueError(
                f"{name!r} must be a FITS file with an image in parts "
                f"{', '.join(map(str, self._parts))} ({error}). Check the file and hdu_indices."
            ) from error


def _image(parts: Any, number: int) -> Any:
    if number > len(parts):
        raise ValueError(f"it has {len(parts)} parts")
    part = parts[number - 1]
    if not part.is_image or part.data is None:
        raise ValueError(f"part {number} is no image")
    return np.ascontiguousarray(part.data, part.data.dtype.newbyteorder("="))
