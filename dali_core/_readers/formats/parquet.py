"""The format of `fn.readers.parquet`: columns of Parquet files, a row group at a time."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._readers.block_cache import Block, BlockCache, BlockSource
from dali_core._readers.fingerprints import fingerprint_of
from dali_core._readers.object_file import ObjectFile
from dali_core._readers.protocol import DataSource, Fetcher
from dali_core._readers.python_reader import Format
from dali_core._runtime.thread_start import map_in_threads
from dali_core._spec import Arg, Range
from dali_core._storage import STORAGE_ARGS, Storage, is_url
from dali_core.arrow import (
    ArrowSource,
    Field,
    find_field,
    find_length_field,
    import_pyarrow,
    read_lengths,
)
from dali_core.errors import ArgumentTypeError, ArgumentValueError

_FILE_ARGS = (
    Arg("paths", list[str], "Paths or URLs of the files, whose rows come in this order."),
    Arg(
        "columns",
        list[str],
        'Names of the columns to read; there is an output for each. ``"a.b"`` is the field ``b`` '
        "of structs in the column ``a``.",
        length=Range(1, 4096),
    ),
    Arg(
        "lengths",
        list[str],
        "Names of the columns that give the length of each row, for batches by tokens: integers, "
        "or lists, binary values and strings, whose numbers of entries and bytes count. Several "
        "columns give several kinds of lengths. They need not be among `columns`.",
        None,
        length=Range(1, 16),
    ),
    *STORAGE_ARGS,
)


class Parquet(Format):
    """Rows of Parquet files, read by pyarrow."""

    name = "readers.parquet"
    doc = """Read columns of Parquet files; a sample is a row.

Files are read by pyarrow (the extra is `arrow`), a row group at a time, and of that only the
columns that are asked for. Numbers and booleans are scalars. Binary values and strings are 1-D
arrays of uint8. Lists of numbers are 1-D, and have a dimension more for each fixed-size list
inside. Images as Hugging Face stores them, a struct of ``bytes`` and ``path``, are their encoded
bytes. Columns of other types, such as timestamps, are errors that name the column and its type.

A row with a null in one of the columns is a bad sample, and so is each row of a row group that
cannot be read. Errors name the file, the row group and the row; `Tensor.source_info` is the index
of the row in all files.

With ``random_shuffle=True``, successive rows are in different row groups, and each needs a whole
one: use it where all fits into `max_cached_bytes`. `samplers.Blocks` gives an order in which each
row group is read once in an epoch.

Returns
-------
DataNode or list of DataNode
    The columns in the order of `columns`; a list if there are several."""
    args = (
        *_FILE_ARGS,
        Arg(
            "max_cached_bytes",
            int,
            "How many bytes of decoded row groups are kept in memory; those that were not used for "
            "longest are dropped. A single row group may have more.",
            512 << 20,
            range=Range(1),
        ),
    )
    listing_args = _FILE_ARGS

    def open(self, arguments: Mapping[str, Any], storage: Storage) -> DataSource:
        """Find the row groups."""
        return _list_row_groups(arguments, storage)

    def num_outputs(self, arguments: Mapping[str, Any]) -> int:
        """Return the number of columns."""
        return len(arguments["columns"])

    def fetcher(self, source: DataSource, arguments: Mapping[str, Any]) -> Fetcher:
        """Return rows from a cache of row groups."""
        assert isinstance(source, BlockSource)
        return BlockCache(source, arguments["max_cached_bytes"])


@dataclass(frozen=True)
class _File:
    path: str
    size: int  # of objects
    metadata: Any  # pyarrow.parquet.FileMetaData
    fields: list[Field]
    length_fields: list[Field]


class RowGroups(BlockSource):
    """The row groups of some files, in their order, except those without rows.

    Parameters
    ----------
    files : sequence of _File
        The files.
    storage : Storage
        What reads those whose paths are URLs.
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
        self._num_rows: list[int] = [
            file.metadata.row_group(n).num_rows for file, n in self._places
        ]

    @property
    def blocks(self) -> Sequence[int]:
        """Number of rows in each row group."""
        return self._num_rows

    @cached_property
    def lengths(self) -> NDArray[np.int64] | None:
        """The lengths in the columns that have them, which are read for that; None without.

        Raises
        ------
        ArgumentValueError
            If they cannot be read, or a row has none.
        """
        if not self._files[0].length_fields:
            return None
        num_threads = min(len(self._places), self._storage.options.max_in_flight)
        parts = map_in_threads(self._read_lengths, range(len(self._places)), num_threads)
        return np.concatenate(list(parts))

    def _read_lengths(self, block: int) -> NDArray[np.int64]:
        fields = self._places[block][0].length_fields
        try:
            table = self._read(block, fields)
        except ValueError as error:
            raise ArgumentValueError(str(error)) from error
        return read_lengths(table, fields, self.block_name(block))

    @property
    def fingerprint(self) -> str:
        """The names of the files, and the rows of their row groups."""
        return fingerprint_of(
            [(os.path.basename(file.path), file.metadata.num_row_groups) for file in self._files],
            self._num_rows,
        )

    def block_name(self, block: int) -> str:
        """Return file and number of a row group, for messages."""
        file, number = self._places[block]
        return f"{file.path!r}, row group {number}"

    def read_block(self, block: int) -> Block:
        """Read the columns of a row group.

        Raises
        ------
        ValueError
            If that does not work.
        """
        fields = self._places[block][0].fields
        table = self._read(block, fields)
        columns = [".".join(field.path) for field in fields]
        return Block(ArrowSource(table, columns).fetch_many, table.nbytes)

    def _read(self, block: int, fields: Sequence[Field]) -> Any:
        """Read some columns of a row group as an Arrow table."""
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
                    number, columns=[".".join(field.path) for field in fields]
                )
            if table.num_rows != self.blocks[block]:
                raise ValueError(f"it has {table.num_rows} rows instead of {self.blocks[block]}")
        except Exception as error:
            raise ValueError(
                f"{self.block_name(block)}: the row group must be readable (got {error}). Check "
                "the file."
            ) from error
        return table


def open_rows(storage: Storage, path: str) -> Any:
    """Open a file, whose pages are checked, as a `pyarrow.parquet.ParquetFile`.

    Raises
    ------
    Exception
        Whatever pyarrow and the storage raise.
    """
    import_pyarrow()
    import pyarrow.parquet as pq

    # Opening a pipe would block until it has a writer.
    if not is_url(path) and not os.path.isfile(path):
        raise FileNotFoundError(f"{path!r} must be a file")
    source = _source(storage, path, storage.info(path).size if is_url(path) else 0)
    return pq.ParquetFile(source, pre_buffer=is_url(path), page_checksum_verification=True)


def _source(storage: Storage, path: str, size: int) -> Any:
    if is_url(path):
        return ObjectFile(storage, path, size)
    import pyarrow

    # Of a text, pyarrow takes nothing that is not UTF-8, as names of files may be, and takes more
    # than the above for URLs, such as "s3:/bucket".
    return pyarrow.OSFile(os.fsencode(path))


def _list_row_groups(arguments: Mapping[str, Any], storage: Storage) -> RowGroups:
    """Find the row groups.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If a file is not in Parquet, a column is missing or of a type that arrays cannot have, files
        have different types, or there are no rows.
    MissingModuleError
        If pyarrow, or what reads URLs, is not installed.
    """
    import_pyarrow()
    paths = storage.checked(arguments["paths"])
    columns = arguments["columns"]
    if not paths:
        raise ArgumentValueError("paths must name at least one file (got none). Pass paths.")
    open_one = partial(_open, storage, columns=columns, lengths=arguments.get("lengths") or [])
    num_threads = min(len(paths), storage.options.max_in_flight)
    files = list(map_in_threads(open_one, paths, num_threads))
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


def _open(storage: Storage, path: str, columns: Sequence[str], lengths: Sequence[str]) -> _File:
    import pyarrow.parquet as pq

    size = storage.info(path).size if is_url(path) else 0
    try:
        with _source(storage, path, size) as source, pq.ParquetFile(source) as opened:
            metadata, schema = opened.metadata, opened.schema_arrow
    except Exception as error:
        raise ArgumentValueError(
            f"paths must be files in Parquet (got {path!r}: {error}). Check the file."
        ) from error
    return _File(
        path,
        size,
        metadata,
        [find_field(schema, name, repr(path)) for name in columns],
        [find_length_field(schema, name, repr(path)) for name in lengths],
    )
