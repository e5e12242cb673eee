"""Lists the records of files: where each is, and which cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dali_core._readers.record_table import RecordTable
from dali_core._storage import Storage
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.operators.readers.archive_index import ArchiveIndex, RecordFormat, open_indices

ReadIndex = Callable[[str, str, Storage], ArchiveIndex]
"""Reads an index file, whose path comes first, of a file."""


def list_records(
    paths: list[str],
    index_paths: Sequence[str] | None,
    record_format: RecordFormat,
    read_index: ReadIndex,
    storage: Storage,
    **own: Any,
) -> RecordTable:
    """List the records of files, from their index files or by walking through the files.

    Parameters
    ----------
    paths, index_paths : list of str
        Files, and a list as long of their index files; or None.
    record_format : RecordFormat
        Format of the files.
    read_index : callable
        Reads an index file.
    storage : Storage
        What reads those that are URLs.
    **own
        What else the native code needs.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If files cannot be read, or there are no records.
    """
    if index_paths and len(index_paths) != len(paths):
        raise ArgumentTypeError(
            f"index_path must have an entry for each of the {len(paths)} files of path (got "
            f"{len(index_paths)})."
        )
    paths = storage.checked(paths)
    if index_paths:
        index_paths = storage.checked(index_paths)
        indices = [
            read_index(index_path, path, storage)
            for index_path, path in zip(index_paths, paths, strict=True)
        ]
    else:
        indices = open_indices(paths, record_format, storage)
    listing = RecordTable(paths, own=own)
    for number, index in enumerate(indices):
        listing.extend(number, index.offsets, index.sizes, index.problems)
    if not len(listing):
        raise ArgumentValueError("path must be files with at least one record (got none).")
    return listing


def read_numbers(path: str, storage: Storage, rule: str) -> list[list[int]]:
    """Read an index file with two numbers on each line.

    Raises
    ------
    ArgumentValueError
        If it cannot be read, or a line is not as `rule` says.
    """
    places = []
    try:
        with storage.open_text(path) as file:
            for number, line in enumerate(file, 1):
                words = line.split()
                if not words:
                    continue
                is_number = [word.isdecimal() and len(word) < 19 for word in words]
                if len(words) != 2 or not all(is_number):
                    raise ArgumentValueError(
                        f"index_path: line {number} of {path!r} must be {rule} (got "
                        f"{line.strip()!r}). Write the index again with python -m dali_core index, "
                        "or leave it out."
                    )
                places.append([int(word) for word in words])
    except OSError as error:
        raise ArgumentValueError(
            f"index_path must be readable files (got {path!r}: {error.strerror})."
        ) from error
    return places
