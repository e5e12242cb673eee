"""Lists the records of files: where each is, and which cannot be read."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dali_core._readers.protocol import DataSource
from dali_core._storage import Storage
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.operators.readers.archive_index import ArchiveIndex, RecordFormat, open_indices

ReadIndex = Callable[[str, str, Storage], ArchiveIndex]
"""Reads an index file, whose path comes first, of a file."""


class Record(NamedTuple):
    """A record of a listing.

    Attributes
    ----------
    file : str
        Path of its file.
    offsets, sizes : tuple of int
        The first byte and the number of bytes, with its frame, of each of its parts; a size of -1
        stands for a missing part.
    problem : str
        Why it cannot be used; empty for a sound one.
    """

    file: str
    offsets: tuple[int, ...]
    sizes: tuple[int, ...]
    problem: str = ""


@dataclass
class RecordListing(DataSource):
    """Records of all files, in their order: a table of columns, since there may be millions.

    Attributes
    ----------
    paths : list of str
        The files.
    files, offsets, sizes : sequence of int
        The file of each record, its first byte, and its number of bytes with its frame. A record
        of several parts has an offset and a size for each; a size of -1 stands for a missing part.
    bad, problems : list of int, list of str
        Numbers of records that cannot be used, and why.
    own : dict
        What else the native code needs.
    """

    paths: list[str]
    files: Any = field(default_factory=lambda: array("q"))
    offsets: Any = field(default_factory=lambda: array("q"))
    sizes: Any = field(default_factory=lambda: array("q"))
    bad: list[int] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    own: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, number: int) -> Record:
        """Return a record by its number."""
        parts = len(self.offsets) // len(self)
        place = slice(number * parts, (number + 1) * parts)
        problem = self.problems[self.bad.index(number)] if number in self.bad else ""
        path = self.paths[self.files[number]]
        return Record(path, tuple(self.offsets[place]), tuple(self.sizes[place]), problem)

    @property
    def lengths(self) -> Sequence[int]:
        """The bytes of each record, of all its parts together."""
        sizes = np.array(self.sizes, np.int64).reshape(len(self), -1)
        lengths: list[int] = np.maximum(sizes, 0).sum(axis=1).tolist()
        return lengths

    def native_arguments(self) -> dict[str, Any]:
        """Return what the native code needs to read a record by its index."""
        return {
            "paths": self.paths,
            "files": self.files.tolist(),
            "offsets": self.offsets.tolist(),
            "sizes": self.sizes.tolist(),
            "bad": self.bad,
            # The empty text says that this is a list of texts.
            "problems": [*self.problems, ""],
            **self.own,
        }

    def add(self, file: int, index: ArchiveIndex) -> None:
        """Add the records of a file."""
        first = len(self)
        self.files.extend([file] * len(index.offsets))
        self.offsets.extend(index.offsets)
        self.sizes.extend(index.sizes)
        self.bad += [first + number for number in index.problems]
        self.problems += index.problems.values()


def list_records(
    paths: list[str],
    index_paths: Sequence[str] | None,
    record_format: RecordFormat,
    read_index: ReadIndex,
    storage: Storage,
    **own: Any,
) -> RecordListing:
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
    listing = RecordListing(paths, own=own)
    for number, index in enumerate(indices):
        listing.add(number, index)
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
