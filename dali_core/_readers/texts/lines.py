"""Data sets whose samples are lines of texts, or texts."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dali_core._readers.protocol import DataSource, Fetcher
from dali_core._readers.texts.line_index import LineIndex, TextFiles
from dali_core._runtime.finalizer import Finalizer
from dali_core._runtime.thread_start import map_in_threads
from dali_core._storage import Storage, is_url
from dali_core._storage.failures import problem_of

_MOST_OPEN = 64  # files at a time
_MOST_BETWEEN = 1 << 14  # bytes that are read for nothing, rather than reading twice
_MOST_AT_ONCE = 4 << 20
_BLOCK_BYTES = 1 << 20

Parse = Callable[[bytes], tuple[Any, ...]]
"""Makes the arrays of a sample of a line; raises ValueError for one that is no sample."""


class TextLines(DataSource):
    """The lines of some files, in their order.

    Parameters
    ----------
    files : TextFiles
        The files.
    indices : sequence of LineIndex
        The lines of each.
    storage : Storage
        What reads those that are URLs.
    """

    def __init__(self, files: TextFiles, indices: Sequence[LineIndex], storage: Storage) -> None:
        self.files = files
        self.reads = storage
        self.indices = indices
        self._ends = np.cumsum([len(index.starts) for index in indices], dtype=np.int64)

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of bytes of each line."""
        sizes = [index.sizes for index in self.indices]
        return np.concatenate(sizes, dtype=np.int64, casting="safe")

    @property
    def blocks(self) -> Sequence[int]:
        """Number of lines in parts of about a megabyte of each file."""
        found: list[int] = []
        for index in self.indices:
            cuts = np.arange(_BLOCK_BYTES, max(index.num_bytes, 1), _BLOCK_BYTES)
            places = [0, *np.searchsorted(index.starts, cuts).tolist(), len(index.starts)]
            found += [count for count in np.diff(places).tolist() if count]
        return found

    def place(self, index: int) -> tuple[int, int]:
        """Return the number of the file of a line, and its place among the lines there."""
        number = int(np.searchsorted(self._ends, index, side="right"))
        return number, index - int(self._ends[number]) + len(self.indices[number].starts)

    def places(self, indices: Sequence[int]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return the number of the file of each line, its first byte there, and its size."""
        wanted = np.asarray(indices, np.int64)
        files = np.searchsorted(self._ends, wanted, side="right")
        starts, sizes = np.empty_like(wanted), np.empty_like(wanted)
        for number in np.unique(files).tolist():
            index = self.indices[number]
            chosen = files == number
            lines = wanted[chosen] - int(self._ends[number])
            starts[chosen], sizes[chosen] = index.starts[lines], index.sizes[lines]
        return files, starts, sizes

    def where(self, index: int) -> str:
        """Return file and line, for messages."""
        number, place = self.place(index)
        return f"{self.files.paths[number]!r}, line {self.indices[number].line_number(place)}"


class _Range(NamedTuple):
    """Bytes of a file, and the samples in them: where in the batch, first byte and number."""

    file: int
    start: int
    size: int
    parts: list[tuple[int, int, int]]


class LineFetcher(Fetcher):
    """Reads lines; neighbours are read at once.

    Parameters
    ----------
    source : TextLines
        The lines.
    parse : callable
        Makes a sample of each.
    max_bytes : int
        Lines that are longer are bad samples.
    """

    def __init__(self, source: TextLines, parse: Parse, max_bytes: int) -> None:
        self._source = source
        self._parse = parse
        self._max_bytes = max_bytes
        self._opened: OrderedDict[int, _Opened] = OrderedDict()

    def fetch_many(self, indices: Sequence[int]) -> list[tuple[Any, ...]]:
        """Return some samples; raises for the first that cannot be one."""
        ranges = self._ranges(indices)
        lines: list[bytes] = [b""] * len(indices)
        for found, data in zip(ranges, self._read(ranges), strict=True):
            for place, start, size in found.parts:
                is_whole = size == len(data)
                part = data if is_whole else memoryview(data)[start : start + size]
                lines[place] = bytes(part)  # of bytes no copy
        samples = []
        for index, line in zip(indices, lines, strict=True):
            try:
                samples.append(self._parse(line))
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{self._source.where(index)}: {error}") from error
        return samples

    def _ranges(self, indices: Sequence[int]) -> list[_Range]:
        files, starts, sizes = self._source.places(indices)
        too_long = np.flatnonzero(sizes > self._max_bytes)
        if len(too_long):
            place = int(too_long[0])
            raise ValueError(
                f"{self._source.where(indices[place])}: the line must have at most "
                f"{self._max_bytes} bytes (got {sizes[place]}). Raise max_sample_bytes, or divide "
                "the line."
            )
        order = np.lexsort((sizes, starts, files))
        columns = (files[order], starts[order], sizes[order], order)
        ranges: list[_Range] = []
        for number, start, size, place in zip(*(one.tolist() for one in columns), strict=True):
            last = ranges[-1] if ranges else None
            if (
                last is not None
                and last.file == number
                and start - last.start - last.size <= _MOST_BETWEEN
                and start + size - last.start <= _MOST_AT_ONCE
            ):
                last.parts.append((place, start - last.start, size))
                most = max(last.size, start + size - last.start)
                ranges[-1] = last._replace(size=most)
            else:
                ranges.append(_Range(number, start, size, [(place, 0, size)]))
        return ranges

    def _read(self, ranges: Sequence[_Range]) -> list[Any]:
        storage = self._source.reads
        remote = [n for n, one in enumerate(ranges) if self._is_remote(one.file)]
        if len(remote) < 2:
            return [self._read_one(one) for one in ranges]
        num_threads = min(len(remote), storage.options.max_in_flight)
        found = dict(
            zip(
                remote,
                map_in_threads(lambda n: self._read_one(ranges[n]), remote, num_threads),
                strict=True,
            )
        )
        return [found[n] if n in found else self._read_one(one) for n, one in enumerate(ranges)]

    def _is_remote(self, file: int) -> bool:
        return is_url(self._source.files.paths[file]) and not self._source.indices[file].compression

    def _read_one(self, wanted: _Range) -> Any:
        path = self._source.files.paths[wanted.file]
        try:
            if self._is_remote(wanted.file):
                data = self._source.reads.read(path, wanted.start, wanted.size)
            else:
                data = self._open(wanted.file).read(wanted.start, wanted.size)
        except Exception as error:
            reason = getattr(error, "strerror", None) or error
            text = (
                problem_of(path, error) if self._is_remote(wanted.file) else f"{path!r}: {reason}"
            )
            raise ValueError(text) from error
        if len(data) != wanted.size:
            raise ValueError(f"{path!r}: it has become shorter. Build the pipeline again.")
        return data

    def _open(self, file: int) -> _Opened:
        if file in self._opened:
            self._opened.move_to_end(file)
            return self._opened[file]
        compression = self._source.indices[file].compression
        opened = _Opened(self._source.files.open(file, compression))
        self._opened[file] = opened
        if len(self._opened) > _MOST_OPEN:
            self._opened.popitem(last=False)
        return opened


class _Opened:
    """A file that is closed when nothing refers to it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        Finalizer(self, os.close, descriptor)

    def read(self, start: int, size: int) -> bytes:
        found = os.pread(self._descriptor, size, start)
        while len(found) < size and (
            more := os.pread(self._descriptor, size - len(found), start + len(found))
        ):
            found += more
        return found
