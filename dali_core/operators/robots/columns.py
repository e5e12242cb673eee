"""Columns of data sets of LeRobot as arrays, which are filled file by file as they are needed."""

from __future__ import annotations

import math
import os
import tempfile
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._runtime.finalizer import Finalizer
from dali_core._storage import Storage
from dali_core.errors import ArgumentValueError
from dali_core.operators.robots.metadata import (
    Episodes,
    Feature,
    open_rows,
    read_table,
)

_MAPPED_BYTES = 1 << 28
"""Columns of more bytes are in a file without a name, so that the system can write them out."""


class NumericColumns:
    """Columns of numbers.

    A row is one frame of one of the chosen episodes; all of their rows are one array, in which
    those of a file are missing until the file is needed.

    Parameters
    ----------
    episodes : Episodes
        The chosen episodes.
    features : iterable of Feature
        Which columns.
    storage : Storage
        What reads URLs.

    Attributes
    ----------
    first : array of int64
        For each episode, the place of its first row.
    row_in_file : array of int64
        For each episode that was loaded, the number of its first row in its file.

    Raises
    ------
    ArgumentValueError
        If the columns do not fit into memory.
    """

    def __init__(self, episodes: Episodes, features: Iterable[Feature], storage: Storage) -> None:
        self._episodes = episodes
        self._features = {feature.name: feature for feature in features}
        self._storage = storage
        ends = np.cumsum(episodes.lengths)
        self.first = ends - episodes.lengths
        self.row_in_file = np.zeros(len(ends), np.int64)
        self._is_loaded = np.zeros(len(ends), bool)
        num_rows = int(ends[-1])
        self._rooms = {
            feature.name: _Room((num_rows, *feature.shape), np.dtype(feature.dtype))
            for feature in self._features.values()
        }

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return the column of a feature; only rows of loaded episodes have values."""
        return self._rooms[name].array

    def load(self, chosen: NDArray[np.int64]) -> None:
        """Have the rows of some episodes loaded.

        Parameters
        ----------
        chosen : array of int64
            Positions of episodes.

        Raises
        ------
        ValueError
            If that does not work.
        """
        if self._is_loaded[chosen].all():
            return
        missing = chosen[~self._is_loaded[chosen]]
        for file in np.unique(self._episodes.data_file[missing]).tolist():
            self._load_file(file)
        for episode in missing.tolist():
            if not self._is_loaded[episode]:
                raise ValueError(
                    f"{self._episodes.data_files[self._episodes.data_file[episode]]!r}: the file "
                    f"must have the {self._episodes.lengths[episode]} rows of episode "
                    f"{self._episodes.numbers[episode]} in one piece. Check it."
                )

    def _load_file(self, file: int) -> None:
        path = self._episodes.data_files[file]
        names = list(dict.fromkeys(["episode_index", *self._features]))
        try:
            table = read_table(self._storage, path, names)
            columns = {}
            for name, feature in self._features.items():
                try:
                    columns[name] = as_array(table.column(name), feature)
                except (KeyError, ValueError, TypeError) as error:
                    raise ValueError(f"column {name!r}: {error}") from error
            number = Feature("episode_index", "int64", ())
            runs = _runs(as_array(table.column("episode_index"), number))
        except Exception as error:
            raise ValueError(
                f"{path!r}: the rows of the data set must be readable (got {error}). Check the "
                "file."
            ) from error
        lengths = self._episodes.lengths
        for episode in np.flatnonzero(self._episodes.data_file == file).tolist():
            start, length = runs.get(int(self._episodes.numbers[episode]), (0, -1))
            if length != lengths[episode]:
                continue
            first = int(self.first[episode])
            for name, column in columns.items():
                self._write(name, first, column[start : start + length])
            self.row_in_file[episode] = start
            self._is_loaded[episode] = True

    def _write(self, name: str, first: int, rows: NDArray[Any]) -> None:
        try:
            self._rooms[name].write(first, rows)
        except OSError as error:
            raise ValueError(
                f"the column {name!r} must have room in {tempfile.gettempdir()!r} (got {error}). "
                "Make room, or read fewer columns."
            ) from error


class _Room:
    """An array that takes memory, or place in a file without a name, only where it is written to.

    Attributes
    ----------
    array : array
        The array. A file is mapped for reading only: a write that finds the disk full is an error
        that way, and not the end of the process.
    """

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        num_bytes = math.prod(shape) * dtype.itemsize
        self._file = -1
        try:
            if num_bytes > _MAPPED_BYTES:
                with tempfile.TemporaryFile(prefix="dali_core-") as file:
                    file.truncate(num_bytes)
                    self.array: NDArray[Any] = np.memmap(file, dtype, "r", shape=shape)
                    self._file = os.dup(file.fileno())
                Finalizer(self, os.close, self._file)
            else:
                self.array = np.empty(shape, dtype)
        except (MemoryError, OSError, ValueError, OverflowError) as error:
            raise ArgumentValueError(
                f"columns must have room in memory or in {tempfile.gettempdir()!r} (got "
                f"{num_bytes} bytes: {error}). Read fewer columns or episodes."
            ) from error

    def write(self, first: int, rows: NDArray[Any]) -> None:
        """Write rows from a row on.

        Raises
        ------
        OSError
            If the disk is full.
        """
        if self._file < 0:
            self.array[first : first + len(rows)] = rows
            return
        data = memoryview(rows.tobytes())
        place = first * (self.array.nbytes // len(self.array))
        while data:
            written = os.pwrite(self._file, data, place)
            data, place = data[written:], place + written


def _runs(numbers: NDArray[np.int64]) -> dict[int, tuple[int, int]]:
    """Return start and length of the rows of each episode; of those in several pieces, (0, -1)."""
    if not len(numbers):
        return {}
    starts = np.flatnonzero(np.diff(numbers, prepend=numbers[:1] - 1)).tolist()
    ends = [*starts[1:], len(numbers)]
    found: dict[int, tuple[int, int]] = {}
    for start, end in zip(starts, ends, strict=True):
        number = int(numbers[start])
        found[number] = (0, -1) if number in found else (start, end - start)
    return found


def as_array(column: Any, feature: Feature) -> NDArray[Any]:
    """Return a column of an Arrow table as an array of shape (rows, ...).

    Raises
    ------
    ValueError, TypeError
        If it has nulls, or another shape or type than the feature.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    num_rows = len(column)
    chunks = [
        chunk.storage if isinstance(chunk, pa.ExtensionArray) else chunk for chunk in column.chunks
    ]
    if not chunks:
        return np.empty((0, *feature.shape), feature.dtype)
    array = pa.concat_arrays(chunks) if len(chunks) > 1 else chunks[0]
    kinds = pa.types
    while True:
        if array.null_count:
            raise ValueError("it must have no nulls")
        kind = array.type
        if kinds.is_list(kind) or kinds.is_large_list(kind):
            lengths = pc.min_max(pc.list_value_length(array)).as_py()
            if lengths["min"] != lengths["max"]:
                raise ValueError("its lists must all have the same length")
            array = array.flatten()
        elif kinds.is_fixed_size_list(kind):
            array = array.flatten()
        else:
            break
    if not (kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind)):
        raise TypeError(f"it must be of type {feature.dtype} (it is of {kind!s:.100})")
    if len(array) != num_rows * math.prod(feature.shape):
        raise ValueError(
            f"its values must have shape {feature.shape} (there are {len(array)} numbers in "
            f"{num_rows} rows)"
        )
    found = array.to_numpy(zero_copy_only=False)
    return np.asarray(found.astype(feature.dtype, casting="same_kind", copy=False)).reshape(
        num_rows, *feature.shape
    )


class Binaries:
    """Columns of texts and of encoded images, a row group at a time.

    Parameters
    ----------
    episodes : Episodes
        The chosen episodes.
    features : sequence of Feature
        Which columns.
    storage : Storage
        What reads URLs.
    max_bytes : int
        How many bytes of row groups are kept. A single one may have more.
    """

    def __init__(
        self, episodes: Episodes, features: Sequence[Feature], storage: Storage, max_bytes: int
    ) -> None:
        self._paths = episodes.data_files
        self._names = [feature.name for feature in features]
        self._storage = storage
        self._max_bytes = max_bytes
        self._row_groups: dict[int, NDArray[np.int64]] = {}  # ends, by file
        self._kept: OrderedDict[tuple[int, int], Any] = OrderedDict()

    def get(self, file: int, row: int, name: str) -> NDArray[np.uint8]:
        """Return the bytes of one value.

        Raises
        ------
        ValueError
            If that does not work.
        """
        try:
            table, start = self._table(file, row)
            value = table.column(name)[row - start]
            found = value["bytes"] if hasattr(value, "keys") else value
            data = found.as_buffer() if found.is_valid else None
            if data is None:
                raise ValueError(f"the column {name!r} has no bytes")
        except Exception as error:
            raise ValueError(
                f"{self._paths[file]!r}, row {row}: the value of {name!r} must be readable (got "
                f"{error}). Check the file."
            ) from error
        return np.frombuffer(data, np.uint8)

    def _table(self, file: int, row: int) -> tuple[Any, int]:
        """Return the row group of a row, and its first row."""
        if file not in self._row_groups:
            with open_rows(self._storage, self._paths[file]) as opened:
                metadata = opened.metadata
                sizes = [
                    metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)
                ]
            self._row_groups[file] = np.cumsum(sizes, dtype=np.int64)
        ends = self._row_groups[file]
        group = int(np.searchsorted(ends, row, side="right"))
        if group == len(ends):
            raise ValueError("the file has not so many rows")
        key = (file, group)
        if key in self._kept:
            self._kept.move_to_end(key)
        else:
            with open_rows(self._storage, self._paths[file]) as opened:
                self._kept[key] = opened.read_row_group(group, columns=self._names)
            while len(self._kept) > 1 and self._num_bytes > self._max_bytes:
                self._kept.popitem(last=False)
        return self._kept[key], int(ends[group - 1]) if group else 0

    @property
    def _num_bytes(self) -> int:
        return sum(table.nbytes for table in self._kept.values())
