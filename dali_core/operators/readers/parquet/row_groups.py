"""Finds the row groups of Parquet files, and reads columns of one at a time."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dali_core._runtime.thread_start import map_in_threads
from dali_core._storage import Storage, is_url
from dali_core._storage.failures import problem_of
from dali_core._storage.storage import make_storage
from dali_core.arrow import Field, find_field, import_pyarrow
from dali_core.errors import ArgumentTypeError, ArgumentValueError


class _ObjectFile(io.RawIOBase):
    """A file over ranges of an object; pyarrow asks for whole ranges."""

    def __init__(self, storage: Storage, url: str, size: int) -> None:
        self._storage = storage
        self._url = url
        self._size = size
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        self._place = start + offset
        return self._place

    def read(self, size: int = -1) -> bytes:
        left = max(self._size - self._place, 0)
        size = left if size < 0 else min(size, left)
        if size == 0:
            return b""
        try:
            data = bytes(self._storage.read(self._url, self._place, size))
        except Exception as error:
            raise OSError(problem_of(self._url, error)) from error
        self._place += len(data)
        return data


@dataclass(frozen=True)
class _File:
    path: str
    size: int  # of objects
    metadata: Any  # pyarrow.parquet.FileMetaData
    fields: list[Field]


class RowGroups:
    """The row groups of some files, in their order, except those without rows.

    Parameters
    ----------
    files : sequence of _File
        The files.
    storage : Storage
        What reads those whose paths are URLs.

    Attributes
    ----------
    blocks : list of int
        Number of rows in each row group.
    """

    def __init__(self, files: Sequence[_File], storage: Storage) -> None:
        self._files = files
        self._storage = storage
        self._places = [
            (file, number)
            for file in files
            for number in range(file.metadata.num_row_groups)
            if file.metadata.row_group(number).num_rows > 0
        ]
        self.blocks = [file.metadata.row_group(n).num_rows for file, n in self._places]

    def __len__(self) -> int:
        return sum(self.blocks)

    def native_arguments(self) -> dict[str, Any]:
        """Return nothing: the native code knows the index of each row."""
        return {}

    def fields(self, block: int) -> list[Field]:
        """Return the columns as they are in the file of a row group."""
        return self._places[block][0].fields

    def name(self, block: int) -> str:
        """Return file and number of a row group, for messages."""
        file, number = self._places[block]
        return f"{file.path!r}, row group {number}"

    def read(self, block: int) -> Any:
        """Read the columns of a row group.

        Returns
        -------
        pyarrow.Table
            The columns; structs have only the fields that were asked for.

        Raises
        ------
        ValueError
            If that does not work.
        """
        import pyarrow.parquet as pq

        file, number = self._places[block]
        try:
            with (
                _source(self._storage, file.path, file.size) as source,
                pq.ParquetFile(
                    source,
                    metadata=file.metadata,
                    pre_buffer=is_url(file.path),
                    page_checksum_verification=True,
                ) as opened,
            ):
                table = opened.read_row_group(
                    number, columns=[".".join(field.path) for field in file.fields]
                )
            if table.num_rows != self.blocks[block]:
                raise ValueError(f"it has {table.num_rows} rows instead of {self.blocks[block]}")
        except Exception as error:
            raise ValueError(
                f"{self.name(block)}: the row group must be readable (got {error}). Check the file."
            ) from error
        return table


def _source(storage: Storage, path: str, size: int) -> Any:
    if is_url(path):
        return _ObjectFile(storage, path, size)
    import pyarrow

    # Of a text, pyarrow takes nothing that is not UTF-8, as names of files may be, and takes more
    # than the above for URLs, such as "s3:/bucket".
    return pyarrow.OSFile(os.fsencode(path))


def list_row_groups(arguments: dict[str, Any]) -> RowGroups:
    """Find the row groups, from the checked arguments of the operator.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If a file is not in Parquet, a column is missing or of a type that arrays cannot have, files
        have different types, or there are no rows.
    MissingModuleError
        If pyarrow, or what reads URLs, is not installed.
    """
    import_pyarrow()
    storage = make_storage(arguments)
    paths = storage.checked(arguments["paths"])
    columns = arguments["columns"]
    if not paths:
        raise ArgumentValueError("paths must name at least one file (got none). Pass paths.")
    num_threads = min(len(paths), storage.options.max_in_flight)
    files = list(map_in_threads(lambda path: _open(storage, path, columns), paths, num_threads))
    first = files[0]
    for file in files:
        for field, expected in zip(file.fields, first.fields, strict=True):
            if field.type != expected.type:
                raise ArgumentTypeError(
                    f"columns must have the same type in all files (got {field.name!r} of type "
                    f"{field.type} in {file.path!r}, and {expected.type} in {first.path!r}). "
                    "Convert the files, or read them by themselves."
                )
    found = RowGroups(files, storage)
    if len(found) < 1:
        raise ArgumentValueError(
            f"paths must be files with at least one row (got {len(paths)} without any). Check them."
        )
    return found


def _open(storage: Storage, path: str, columns: Sequence[str]) -> _File:
    import pyarrow.parquet as pq

    size = storage.info(path).size if is_url(path) else 0
    try:
        with _source(storage, path, size) as source, pq.ParquetFile(source) as opened:
            metadata, schema = opened.metadata, opened.schema_arrow
    except Exception as error:
        raise ArgumentValueError(
            f"paths must be files in Parquet (got {path!r}: {error}). Check the file."
        ) from error
    return _File(path, size, metadata, [find_field(schema, name, repr(path)) for name in columns])
