"""Rows and crops of arrays that are stored in blocks: only blocks that are needed are read."""

from __future__ import annotations

import hashlib
import math
import os
import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dali_core._readers.fingerprints import fingerprint_of
from dali_core._readers.protocol import DataSource, Fetcher
from dali_core._runtime.remote_reads import require_memory
from dali_core._runtime.thread_start import map_in_threads
from dali_core._spec import UNSET, Arg, Range
from dali_core._storage import Storage
from dali_core.errors import ArgumentTypeError, ArgumentValueError

_MOST_BLOCKS = 1 << 16  # of a sample
_BYTES_FOR_THREADS = 8 << 20  # with fewer, threads cost as much as they save

CROP_ARGS = (
    Arg(
        "crop",
        list[int],
        "Extents of the last axes of samples, which are crops of the arrays and not rows then; "
        "axes before them are read whole.",
        UNSET,
        range=Range(1),
        length=Range(1, 32),
    ),
    Arg(
        "anchors",
        object,
        "First element of each crop along each axis of `crop`: a list of lists, or an array of "
        "integers, whose crops are read of each of the `paths`. With a number more in front, that "
        "is the number of the path. By default they are random.",
        UNSET,
    ),
    Arg(
        "num_crops",
        int,
        "How many random crops an epoch has of each of the `paths`. Crops differ from each other, "
        "and are the same ones in each epoch.",
        1,
        range=Range(1, 1 << 40),
    ),
    Arg("crop_seed", int, "Decides on the places of random crops.", 0, range=Range(0)),
    Arg(
        "align",
        bool,
        "Whether random crops begin where chunks of the first array begin, or end at the end of "
        "the array, so that fewer chunks are decoded.",
        False,
    ),
)
"""Arguments of readers that may read crops of arrays."""


def check_crops(arguments: Mapping[str, Any]) -> None:
    """Refuse arguments of crops where samples are none, and those that exclude each other.

    Raises
    ------
    ArgumentValueError
        If they do not fit each other.
    """
    if "crop" not in arguments:
        given = [name for name in ("anchors",) if name in arguments]
        given += ["align"] * arguments["align"] + ["num_crops"] * (arguments["num_crops"] != 1)
        if given:
            raise ArgumentValueError(
                f"crop must be given with {given[0]} (got none). Pass the extents of crops."
            )
    elif "anchors" in arguments and arguments["num_crops"] != 1:
        raise ArgumentValueError(
            "num_crops must not be given with anchors (got both), which are as many as they "
            "are. Leave out one."
        )


Region = tuple[tuple[int, int], ...]
"""First and last element, which is not part of it, along each axis."""


class ChunkedArray(Protocol):
    """An array of blocks, each of which is decoded as a whole. Threads use it at the same time.

    Attributes
    ----------
    path : str
        Where it is, for messages.
    """

    path: str

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements, in the byte order of the machine."""
        ...

    @property
    def fill(self) -> NDArray[Any]:
        """The value of blocks that are absent."""
        ...

    @property
    def block_shape(self) -> tuple[int, ...]:
        """The shape of a block."""
        ...

    def block(self, numbers: tuple[int, ...]) -> NDArray[Any] | None:
        """Read a block by its number along each axis; None if it is absent."""
        ...

    def check_present(self) -> None:
        """Raise a ValueError unless the array is there, of which a block is absent."""
        ...


class Samples(DataSource):
    """Samples that are parts of arrays; `arrays` has a list for each path."""

    reads: Storage

    def __init__(self, paths: Sequence[str], arrays: Sequence[Sequence[ChunkedArray]]) -> None:
        self.paths, self.arrays = paths, arrays

    def regions(self, index: int) -> tuple[int, list[Region]]:
        """Return the number of the path, and what is read of each of its arrays."""
        raise NotImplementedError

    def shape(self, region: Region) -> tuple[int, ...]:
        """Return the shape of a sample."""
        return tuple(stop - start for start, stop in region)

    @property
    def fingerprint(self) -> str:
        names = [os.path.basename(path.rstrip("/")) for path in self.paths]
        described = [[(*one.shape, one.dtype.str) for one in own] for own in self.arrays]
        return fingerprint_of(names, described, self._described())

    def _described(self) -> Any:
        return None


class Rows(Samples):
    def __init__(self, paths: Sequence[str], arrays: Sequence[Sequence[ChunkedArray]]) -> None:
        super().__init__(paths, arrays)
        self._counts = [own[0].shape[0] for own in arrays]
        self._ends = np.cumsum(self._counts, dtype=np.int64)

    def __len__(self) -> int:
        return int(self._ends[-1])

    @property
    def blocks(self) -> Sequence[int] | None:
        """The number of rows in each chunk; None if each row can be read alone."""
        rows = [max(array.block_shape[0] for array in own) for own in self.arrays]
        if max(rows) == 1:
            return None
        return [
            min(each, count - first)
            for each, count in zip(rows, self._counts, strict=True)
            for first in range(0, count, each)
        ]

    def regions(self, index: int) -> tuple[int, list[Region]]:
        path = int(np.searchsorted(self._ends, index, side="right"))
        row = index - (int(self._ends[path - 1]) if path else 0)
        shapes = (array.shape for array in self.arrays[path])
        whole = (tuple((0, extent) for extent in shape[1:]) for shape in shapes)
        return path, [((row, row + 1), *rest) for rest in whole]

    def shape(self, region: Region) -> tuple[int, ...]:
        return super().shape(region)[1:]


def _rows_of(paths: Sequence[str], arrays: Sequence[Sequence[ChunkedArray]]) -> Samples:
    for path, own in zip(paths, arrays, strict=True):
        counts = [array.shape[0] for array in own]
        if len(set(counts)) > 1:
            raise ArgumentValueError(
                f"arrays must have equally many rows (got {counts} in {path!r}). Check them."
            )
    if sum(own[0].shape[0] for own in arrays) >= 1 << 62:
        raise ArgumentValueError(f"arrays must have fewer rows (got 2**62 in {list(paths)}).")
    return Rows(paths, arrays)


@dataclass(frozen=True)
class _Places:
    """Where crops are: given, or drawn."""

    crop: tuple[int, ...]
    num_crops: int
    seed: int
    align: bool
    anchors: NDArray[np.int64] | None  # with numbers of paths in the first column
    num_paths: int

    def __len__(self) -> int:
        return self.num_crops * self.num_paths if self.anchors is None else len(self.anchors)

    def place(self, index: int, extents: Any, steps: Any) -> tuple[int, list[int]]:
        """Return the path of a crop, and its first element along each axis."""
        if self.anchors is not None:
            path, *anchor = self.anchors[index].tolist()
            return path, anchor
        path, number = divmod(index, self.num_crops)
        text = b"%d %d %d" % (self.seed, path, number)
        # Eight bytes for each axis; the numbers are the same everywhere and in all versions.
        drawn = hashlib.shake_128(text).digest(8 * len(self.crop))
        anchor = []
        for axis, (extent, size, step) in enumerate(
            zip(extents(path), self.crop, steps(path), strict=True)
        ):
            last = extent - size
            number_of = last + 1 if not self.align else last // step + 1 + (last % step > 0)
            value = int.from_bytes(drawn[8 * axis : 8 * axis + 8], "little") % number_of
            anchor.append(min(value * step, last) if self.align else value)
        return path, anchor


class Crops(Samples):
    def __init__(
        self, paths: Sequence[str], arrays: Sequence[Sequence[ChunkedArray]], places: _Places
    ) -> None:
        super().__init__(paths, arrays)
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    def regions(self, index: int) -> tuple[int, list[Region]]:
        rank = len(self._places.crop)
        path, anchor = self._places.place(
            index,
            lambda path: self.arrays[path][0].shape[-rank:],
            lambda path: self.arrays[path][0].block_shape[-rank:],
        )
        part = [(at, at + size) for at, size in zip(anchor, self._places.crop, strict=True)]
        shapes = (array.shape for array in self.arrays[path])
        whole = (tuple((0, extent) for extent in shape[:-rank]) for shape in shapes)
        return path, [(*before, *part) for before in whole]

    def _described(self) -> Any:
        places = self._places
        given = places.anchors is not None and places.anchors.tolist()
        return [places.crop, places.num_crops, places.seed, places.align, given]


def _crops_of(
    paths: Sequence[str], arrays: Sequence[Sequence[ChunkedArray]], arguments: Mapping[str, Any]
) -> Samples:
    crop = tuple(arguments["crop"])
    rank = len(crop)
    extents = []
    for own in arrays:
        ends = {array.shape[-rank:] for array in own}
        extents.append(next(iter(ends)))
        small = len(extents[-1]) < rank or any(map(int.__lt__, extents[-1], crop))
        if len(ends) > 1 or small:
            found = ", ".join(f"{array.shape} in {array.path!r}" for array in own)
            raise ArgumentValueError(
                f"arrays must have the same last {rank} extents, which must be those of crop or "
                f"larger (got {found}, and the crop {crop}). Change crop, or leave out the array."
            )
    anchors = _anchors(arguments["anchors"], extents, crop) if "anchors" in arguments else None
    places = _Places(
        crop,
        arguments["num_crops"],
        arguments["crop_seed"],
        arguments["align"],
        anchors,
        len(paths),
    )
    if len(places) >= 1 << 62:
        raise ArgumentValueError(f"num_crops must be fewer (got {arguments['num_crops']}).")
    return Crops(paths, arrays, places)


def _anchors(
    given: Any, extents: Sequence[tuple[int, ...]], crop: tuple[int, ...]
) -> NDArray[np.int64]:
    rank = len(crop)
    try:
        found = np.asarray(given)
    except ValueError:
        found = np.asarray(None)
    if found.dtype.kind not in "iu" or found.ndim != 2 or found.shape[1] not in (rank, rank + 1):
        raise ArgumentTypeError(
            f"anchors must have {rank} integers for each crop, or {rank + 1} with the number of "
            f"the path in front (got {found.dtype} of the shape {found.shape}). Pass a list of "
            "lists."
        )
    found = found.astype(np.int64)
    if found.shape[1] == rank:
        numbers = np.repeat(np.arange(len(extents)), len(found))
        found = np.column_stack([numbers, np.tile(found, (len(extents), 1))])
    paths = found[:, 0]
    if len(found) and not 0 <= paths.min() <= paths.max() < len(extents):
        raise ArgumentValueError(
            f"anchors must begin with numbers of paths, 0 to {len(extents) - 1} (got "
            f"{paths.min()} to {paths.max()}). Change them."
        )
    lasts = np.array(extents, np.int64)[paths] - crop
    wrong = np.flatnonzero(((found[:, 1:] < 0) | (found[:, 1:] > lasts)).any(axis=1))
    if len(wrong):
        raise ArgumentValueError(
            f"anchors must be of crops inside of the array (got {found[wrong[0]].tolist()}, number "
            f"{wrong[0]}, of at most {lasts[wrong[0]].tolist()}). Change them."
        )
    return found


def samples_of(
    paths: Sequence[str],
    arrays: Sequence[Sequence[ChunkedArray]],
    arguments: Mapping[str, Any],
    storage: Storage,
) -> Samples:
    """Return rows of arrays, or crops if they are asked for.

    Parameters
    ----------
    paths : sequence of str
        Where the arrays are.
    arrays : sequence of sequence of ChunkedArray
        Those of each path.
    arguments : mapping
        Checked arguments, with `CROP_ARGS`.
    storage : Storage
        What reads URLs.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If arrays or arguments do not fit each other.
    """
    for path, own in zip(paths, arrays, strict=True):
        for first, array in zip(arrays[0], own, strict=True):
            mine, others = _kind(array), _kind(first)
            if mine != others:
                raise ArgumentValueError(
                    f"arrays must have the same type and number of axes everywhere (got {mine} "
                    f"in {path!r}, and {others} in {paths[0]!r}). Convert them."
                )
    is_crop = "crop" in arguments
    found = _crops_of(paths, arrays, arguments) if is_crop else _rows_of(paths, arrays)
    if not len(found):
        raise ArgumentValueError(
            f"paths must have at least one sample (got none in {paths[0]!r}). Check them."
        )
    found.reads = storage
    return found


def _kind(array: ChunkedArray) -> str:
    return f"{array.dtype} with {len(array.shape)} axes"


_Part = tuple[NDArray[Any], tuple[slice, ...], tuple[slice, ...]]
"""An output, the part of it that a block is copied to, and that part of the block."""


class Reading(Fetcher):
    def __init__(self, source: Samples, max_cached_bytes: int) -> None:
        self._source = source
        self._blocks = RecentlyUsed(max_cached_bytes)

    def fetch_many(self, indices: Sequence[int]) -> Sequence[Any]:
        """Read some samples; each block is decoded once for all of them."""
        wanted: dict[tuple[int, int, tuple[int, ...]], list[_Part]] = {}
        found: dict[int, tuple[NDArray[Any], ...]] = {}
        for index in dict.fromkeys(indices):
            path, regions = self._source.regions(index)
            found[index] = tuple(
                self._planned(path, number, region, wanted) for number, region in enumerate(regions)
            )
        missing = []
        for key, parts in wanted.items():
            block = self._blocks.get(key)
            if block is None:
                missing.append(key)
            else:
                self._copy(key, block, parts)
        absent = dict.fromkeys(key[:2] for key in self._read(missing, wanted) if key is not None)
        for path, number in absent:
            self._source.arrays[path][number].check_present()
        return [found[index] for index in indices]

    def _read(self, missing: Sequence[Any], wanted: Mapping[Any, list[_Part]]) -> Iterator[Any]:
        """Read blocks, in threads if that pays; yield those that are absent."""

        def read(key: Any) -> Any:
            path, number, numbers = key
            block = self._source.arrays[path][number].block(numbers)
            self._copy(key, block, wanted[key])
            # One that is absent is kept, too.
            kept, num_bytes = (False, 64) if block is None else (block, block.nbytes)
            self._blocks.put(key, kept, num_bytes)
            return key if block is None else None

        storage = self._source.reads
        if storage.is_used:
            num_threads = storage.options.max_in_flight
        else:
            arrays = (self._source.arrays[path][number] for path, number, _ in missing)
            num_bytes = sum(math.prod(one.block_shape) * one.dtype.itemsize for one in arrays)
            num_threads = len(os.sched_getaffinity(0)) if num_bytes > _BYTES_FOR_THREADS else 1
        num_threads = min(num_threads, len(missing))
        return map_in_threads(read, missing, num_threads) if num_threads > 1 else map(read, missing)

    def _copy(self, key: Any, block: Any, parts: Sequence[_Part]) -> None:
        fill = self._source.arrays[key[0]][key[1]].fill
        for output, target, origin in parts:
            output[target] = fill if block is None or block is False else block[origin]

    def _planned(
        self, path: int, number: int, region: Region, wanted: dict[Any, list[_Part]]
    ) -> NDArray[Any]:
        """Return an array for a part of an array, and note the blocks to fill it with."""
        array = self._source.arrays[path][number]
        sizes = array.block_shape
        ranges = [
            range(start // size, -(-stop // size))
            for (start, stop), size in zip(region, sizes, strict=True)
        ]
        if math.prod(map(len, ranges)) > _MOST_BLOCKS:
            raise ValueError(
                f"{array.path!r}: a sample must be in at most {_MOST_BLOCKS} chunks (it is in "
                f"{math.prod(map(len, ranges))}). Take smaller crops, or write larger chunks."
            )
        extents = tuple(stop - start for start, stop in region)
        try:
            require_memory(math.prod(extents) * array.dtype.itemsize)
            output = np.empty(extents, array.dtype)
        except (MemoryError, ValueError, OverflowError) as error:
            raise ValueError(f"{array.path!r}: {error}") from error
        for numbers in product(*ranges):
            target, origin = [], []
            for block, size, (start, stop) in zip(numbers, sizes, region, strict=True):
                first, last = max(block * size, start), min((block + 1) * size, stop)
                target.append(slice(first - start, last - start))
                origin.append(slice(first - block * size, last - block * size))
            parts = wanted.setdefault((path, number, numbers), [])
            parts.append((output, tuple(target), tuple(origin)))
        return output.reshape(self._source.shape(region))


class RecentlyUsed:
    """Values that were used last, up to so many bytes; threads may share it.

    Parameters
    ----------
    max_bytes : int
        How many bytes they have at most.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._num_bytes = 0
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Any:
        """Return a value; None if it is not kept."""
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def put(self, key: Hashable, value: Any, num_bytes: int) -> None:
        """Keep a value, in the place of those that were not used for longest."""
        with self._lock:
            if key in self._kept or num_bytes > self._max_bytes:
                return
            self._kept[key] = value, num_bytes
            self._num_bytes += num_bytes
            while self._num_bytes > self._max_bytes:
                self._num_bytes -= self._kept.popitem(last=False)[1][1]
