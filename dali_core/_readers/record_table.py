"""Records of files, as rows of a table: archives, record files, databases and folders of files."""

from __future__ import annotations

from abc import abstractmethod
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dali_core._readers.protocol import DataSource


class Record(NamedTuple):
    """A part of a file that is read for a sample.

    Attributes
    ----------
    path : str
        The file.
    offset : int
        Its first byte.
    size : int or None
        Its number of bytes with its frame; None if that is known only when the file is opened.
    """

    path: str
    offset: int = 0
    size: int | None = None


class RecordSource(DataSource):
    """A data set whose samples are parts of files."""

    @abstractmethod
    def records(self, index: int) -> list[Record | None]:
        """Return the parts that a sample is read from; None for each that is missing."""

    def problem(self, index: int) -> str:
        """Return why a sample cannot be used; an empty text if nothing is known against it."""
        return ""


@dataclass
class RecordTable(RecordSource):
    """Records of all files in their order, in columns of numbers, of which there may be millions.

    Attributes
    ----------
    paths : list of str
        The files.
    num_parts : int
        Number of parts of each record.
    files : array of int64
        The file of each record.
    offsets, sizes : array of int64
        The first byte of each part, and its number of bytes with its frame; a size of -1 stands for
        a missing part.
    problems : dict of int to str
        Why records cannot be used, by their numbers, which ascend.
    own : dict
        What else the native code needs.
    """

    paths: list[str]
    num_parts: int = 1
    files: array[int] = field(default_factory=lambda: array("q"))
    offsets: array[int] = field(default_factory=lambda: array("q"))
    sizes: array[int] = field(default_factory=lambda: array("q"))
    problems: dict[int, str] = field(default_factory=dict)
    own: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.files)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of bytes of each record in its file, of all parts that there are."""
        sizes = np.array(self.sizes, np.int64).reshape(len(self), self.num_parts)
        lengths: NDArray[np.int64] = np.maximum(sizes, 0).sum(1)
        return lengths

    def records(self, index: int) -> list[Record | None]:
        """Return the parts of a record; None for each that is missing."""
        path, first = self.paths[self.files[index]], index * self.num_parts
        return [
            None if self.sizes[n] < 0 else Record(path, self.offsets[n], self.sizes[n])
            for n in range(first, first + self.num_parts)
        ]

    def problem(self, index: int) -> str:
        """Return why a record cannot be used; an empty text if nothing is known against it."""
        return self.problems.get(index, "")

    def extend(
        self,
        file: int,
        offsets: Sequence[int],
        sizes: Sequence[int],
        problems: Mapping[int, str],
    ) -> None:
        """Add the records of a file, whose problems are by their numbers in it."""
        first = len(self)
        self.files.extend([file] * (len(offsets) // self.num_parts))
        self.offsets.extend(offsets)
        self.sizes.extend(sizes)
        self.problems.update({first + number: text for number, text in problems.items()})

    def native_arguments(self) -> dict[str, Any]:
        """Return what the native code needs to read a record by its index."""
        return {
            "paths": self.paths,
            "files": self.files.tolist(),
            "offsets": self.offsets.tolist(),
            "sizes": self.sizes.tolist(),
            "bad": list(self.problems),
            # The empty text says that this is a list of texts.
            "problems": [*self.problems.values(), ""],
            **self.own,
        }
