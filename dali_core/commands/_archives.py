"""Members of tar archives and Parquet files that are images, sounds or videos."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core.arrow import find_field, import_pyarrow
from dali_core.commands._contents import TAR, media_kind
from dali_core.commands._media import MediaFile, TableCell, TarMember, kind_of
from dali_core.errors import ArgumentTypeError, ArgumentValueError, MissingModuleError

_SNIFFED_ROWS = 16
_LEAST_ROW_BYTES = 64
"""Bytes of a Parquet file for each row that is an image, at least."""
_FEW_ROWS = 1000


def with_members(
    others: Sequence[MediaFile],
) -> tuple[list[MediaFile], list[MediaFile], list[str]]:
    """Look into archives.

    Parameters
    ----------
    others : sequence of MediaFile
        Files that are neither images, sounds nor videos, some of which may be archives.

    Returns
    -------
    list of MediaFile
        Members that are one of these, and archives that cannot be read, with their problem.
    list of MediaFile
        Other members, and the other files that are no archives.
    list of str
        Remarks about archives that were not looked into.
    """
    found: list[MediaFile] = []
    rest: list[MediaFile] = []
    remarks: list[str] = []
    for file in others:
        kind = file.archive()
        if not kind:
            rest.append(file)
            continue
        try:
            for member in (_tar_members if kind == TAR else _table_cells)(file):
                (found if member.kind or member.problem else rest).append(member)
        except MissingModuleError as error:
            remarks.append(f"{file.name}: {error}")
        except ArgumentValueError as error:
            found.append(replace(file, problem=str(error)))
    return found, rest, remarks


class TarMembers:
    """A data set for `fn.readers.python`: the bytes of members of tar archives.

    Parameters
    ----------
    files : sequence of MediaFile
        The members.
    """

    def __init__(self, files: Sequence[MediaFile]) -> None:
        self._files = files

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: int) -> NDArray[np.uint8]:
        place = self._files[index].place
        assert isinstance(place, TarMember)
        with open(self._files[index].path, "rb") as archive:
            archive.seek(place.offset)
            content = archive.read(place.size)
        if len(content) != place.size:
            raise ValueError(
                f"the member must have {place.size} bytes (got {len(content)}): the archive has "
                "changed. Check it again."
            )
        return np.frombuffer(content, np.uint8)


def read_member(file: MediaFile) -> bytes:
    """Return the bytes of a member.

    Raises
    ------
    ArgumentValueError, OSError, ValueError
        If it cannot be read.
    """
    if isinstance(file.place, TarMember):
        return TarMembers([file])[0].tobytes()
    from dali_core._readers.formats.parquet import Parquet
    from dali_core._storage import Storage
    from dali_core._storage.options import StorageOptions

    assert isinstance(file.place, TableCell)
    arguments = {"paths": [file.path], "columns": [file.place.column], "max_cached_bytes": 1}
    reader = Parquet()
    source = reader.open(arguments, Storage(StorageOptions()))
    (content,) = reader.fetcher(source, arguments).fetch(file.place.row)
    return bytes(content)


def _tar_members(file: MediaFile) -> Iterator[MediaFile]:
    from dali_core.operators.readers.archive_index import BEHIND_THE_END, open_indices
    from dali_core.operators.readers.webdataset.record_format import FORMAT

    (index,) = open_indices([file.path], FORMAT, progress=False)
    for number, name in enumerate(index.names):
        problem = index.problems.get(number, "")
        if not name:
            # It is unknown which members are lost.
            yield replace(file, name=f"{file.name}:", problem=problem)
            continue
        if os.path.basename(name).startswith("."):
            continue
        member = MediaFile(
            f"{file.name}:{name}",
            file.path,
            kind_of(name),
            None,
            TarMember(index.offsets[number], index.sizes[number]),
            problem,
        )
        known = member.kind or problem
        yield member if known else replace(member, kind=media_kind(member.head() or b""))
    if BEHIND_THE_END in index.problems:
        yield replace(file, problem=index.problems[BEHIND_THE_END])


def _table_cells(file: MediaFile) -> Iterator[MediaFile]:
    import_pyarrow()
    import pyarrow.parquet as pq

    try:
        with open(file.path, "rb") as source, pq.ParquetFile(source) as table:
            num_rows = table.metadata.num_rows
            if num_rows > _FEW_ROWS + file.key()[0] // _LEAST_ROW_BYTES:
                raise ArgumentValueError(
                    f"Parquet: a file must have {_LEAST_ROW_BYTES} bytes for each row with an "
                    f"image (got {num_rows} rows in {file.key()[0]} bytes)."
                )
            kinds = {
                name: _kind_of_column(table, name) for name in _binary_columns(table.schema_arrow)
            }
    except ArgumentValueError:
        raise
    except Exception as error:  # pyarrow raises errors of many types
        raise ArgumentValueError(f"Parquet: the file must be readable (got {error}).") from error
    for name, kind in kinds.items():
        for row in range(num_rows) if kind else ():
            cell = TableCell(name, row)
            yield MediaFile(f"{file.name}:{name}[{row}]", file.path, kind, None, cell)


def _binary_columns(schema: Any) -> Iterator[str]:
    """Return the columns that the reader gives as bytes which are no text."""
    import pyarrow.types as kinds

    for name in schema.names:
        try:
            kind = find_field(schema, name, "the file").type
        except (ArgumentTypeError, ArgumentValueError):
            continue
        if kinds.is_binary(kind) or kinds.is_large_binary(kind):
            yield name


def _kind_of_column(table: Any, name: str) -> str:
    """Return the kind of the first values of a column that have one."""
    rows = next(table.iter_batches(batch_size=_SNIFFED_ROWS, columns=[name]), None)
    for value in [] if rows is None else rows.column(0).to_pylist():
        content = value.get("bytes") if isinstance(value, dict) else value
        if kind := media_kind((content or b"")[:64]):
            return kind
    return ""
