"""The format of `fn.readers.zarr`: rows and crops of Zarr arrays."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._readers.fingerprints import fingerprint_of
from dali_core._readers.formats.zarr_chunks import ArrayFiles, RecentlyUsed
from dali_core._readers.protocol import DataSource, Fetcher
from dali_core._readers.python_reader import Format
from dali_core._runtime.remote_reads import require_memory
from dali_core._runtime.thread_start import map_in_threads
from dali_core._spec import UNSET, Arg, Range
from dali_core._storage import STORAGE_ARGS, Storage, join_path
from dali_core.errors import ArgumentTypeError, ArgumentValueError

_MOST_BLOCKS = 1 << 16  # of a sample
_INDEX_BYTES = 64 << 20  # of shards, that are kept
_BYTES_FOR_THREADS = 8 << 20  # with fewer, threads cost as much as they save

_LISTING_ARGS = (
    Arg("paths", list[str], "Paths or URLs of groups or arrays, whose samples come in this order."),
    Arg(
        "arrays",
        list[str],
        "Paths of the arrays in the groups; there is an output for each. By default each of the "
        "`paths` is an array itself, or a pyramid of OME-Zarr, whose finest level is read; other "
        'levels have names, such as ``"1"``.',
        UNSET,
        length=Range(1, 4096),
    ),
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
    *STORAGE_ARGS,
)


class Zarr(Format):
    """Rows or crops of arrays."""

    name = "readers.zarr"
    doc = """Read rows or crops of Zarr arrays, of versions 2 and 3, also sharded ones.

A sample is a row of each of the arrays, along the first axis; arrays in one group have equally many
rows. With `crop` it is a part of each of them, at the same place, which is known before anything is
read. Only chunks with such elements are read, or of shards their parts, and decoded in threads.
Chunks that are absent have the fill value; what cannot be read is an error.

Elements are integers, booleans, and floating-point numbers to 64 bits, in the byte order of the
machine. Errors name the file.

Returns
-------
DataNode or list of DataNode
    The arrays in the order of `arrays`; a list if there are several."""
    args = (
        *_LISTING_ARGS,
        Arg(
            "max_cached_bytes",
            int,
            "How many bytes of decoded chunks are kept in memory; those that were not used for "
            "longest are dropped.",
            256 << 20,
            range=Range(0),
        ),
    )
    listing_args = _LISTING_ARGS

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Refuse arguments of crops where samples are rows."""
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

    def open(self, arguments: Mapping[str, Any], storage: Storage) -> DataSource:
        """List rows or crops of all paths."""
        self.check(arguments)
        if not arguments["paths"]:
            raise ArgumentValueError("paths must name at least one array (got none). Pass paths.")
        names = arguments.get("arrays", [""])
        paths = storage.checked(arguments["paths"])
        try:
            arrays = [[ArrayFiles(_join(path, name), storage) for name in names] for path in paths]
        except ValueError as error:
            if isinstance(error, ArgumentValueError):
                raise
            raise ArgumentValueError(
                f"paths must be Zarr groups with all arrays (got {error}). Check paths and arrays."
            ) from error
        for path, own in zip(paths, arrays, strict=True):
            for first, array in zip(arrays[0], own, strict=True):
                mine, others = _kind(array), _kind(first)
                if mine != others:
                    raise ArgumentValueError(
                        f"arrays must have the same type and number of axes everywhere (got {mine} "
                        f"in {path!r}, and {others} in {paths[0]!r}). Convert them."
                    )
        found = (
            _rows(paths, arrays) if "crop" not in arguments else _crops(paths, arrays, arguments)
        )
        if not len(found):
            raise ArgumentValueError(
                f"paths must have at least one sample (got none in {paths[0]!r}). Check them."
            )
        found.reads = storage
        return found

    def num_outputs(self, arguments: Mapping[str, Any]) -> int:
        """Return the number of arrays."""
        return len(arguments.get("arrays", [""]))

    def fetcher(self, source: DataSource, arguments: Mapping[str, Any]) -> Fetcher:
        """Read chunks, and keep what was decoded."""
        assert isinstance(source, _Samples)
        return _Reading(source, arguments["max_cached_bytes"])


Region = tuple[tuple[int, int], ...]
"""First and last element, which is not part of it, along each axis."""


def _join(path: str, name: str) -> str:
    path, name = path.rstrip("/") or "/", name.strip("/")
    return join_path(path, name) if name else path


def _kind(array: ArrayFiles) -> str:
    return f"{array.metadata.dtype} with {len(array.metadata.shape)} axes"


class _Samples(DataSource):
    """Samples that are parts of arrays; `arrays` has a list for each path."""

    reads: Storage

    def __init__(self, paths: Sequence[str], arrays: Sequence[Sequence[ArrayFiles]]) -> None:
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
        described = [
            [(*one.metadata.shape, one.metadata.dtype.str) for one in own] for own in self.arrays
        ]
        return fingerprint_of(names, described, self._described())

    def _described(self) -> Any:
        return None


class _Rows(_Samples):
    def __init__(self, paths: Sequence[str], arrays: Sequence[Sequence[ArrayFiles]]) -> None:
        super().__init__(paths, arrays)
        self._counts = [own[0].metadata.shape[0] for own in arrays]
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
        shapes = (array.metadata.shape for array in self.arrays[path])
        whole = (tuple((0, extent) for extent in shape[1:]) for shape in shapes)
        return path, [((row, row + 1), *rest) for rest in whole]

    def shape(self, region: Region) -> tuple[int, ...]:
        return super().shape(region)[1:]


def _rows(paths: Sequence[str], arrays: Sequence[Sequence[ArrayFiles]]) -> _Samples:
    for path, own in zip(paths, arrays, strict=True):
        counts = [array.metadata.shape[0] for array in own]
        if len(set(counts)) > 1:
            raise ArgumentValueError(
                f"arrays must have equally many rows (got {counts} in {path!r}). Check them."
            )
    if sum(own[0].metadata.shape[0] for own in arrays) >= 1 << 62:
        raise ArgumentValueError(f"arrays must have fewer rows (got 2**62 in {list(paths)}).")
    return _Rows(paths, arrays)


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


class _Crops(_Samples):
    def __init__(
        self, paths: Sequence[str], arrays: Sequence[Sequence[ArrayFiles]], places: _Places
    ) -> None:
        super().__init__(paths, arrays)
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    def regions(self, index: int) -> tuple[int, list[Region]]:
        rank = len(self._places.crop)
        path, anchor = self._places.place(
            index,
            lambda path: self.arrays[path][0].metadata.shape[-rank:],
            lambda path: self.arrays[path][0].block_shape[-rank:],
        )
        part = [(at, at + size) for at, size in zip(anchor, self._places.crop, strict=True)]
        shapes = (array.metadata.shape for array in self.arrays[path])
        whole = (tuple((0, extent) for extent in shape[:-rank]) for shape in shapes)
        return path, [(*before, *part) for before in whole]

    def _described(self) -> Any:
        places = self._places
        given = places.anchors is not None and places.anchors.tolist()
        return [places.crop, places.num_crops, places.seed, places.align, given]


def _crops(
    paths: Sequence[str], arrays: Sequence[Sequence[ArrayFiles]], arguments: Mapping[str, Any]
) -> _Samples:
    crop = tuple(arguments["crop"])
    rank = len(crop)
    extents = []
    for own in arrays:
        ends = {array.metadata.shape[-rank:] for array in own}
        extents.append(next(iter(ends)))
        small = len(extents[-1]) < rank or any(map(int.__lt__, extents[-1], crop))
        if len(ends) > 1 or small:
            found = ", ".join(f"{array.metadata.shape} in {array.path!r}" for array in own)
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
    return _Crops(paths, arrays, places)


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


_Part = tuple[NDArray[Any], tuple[slice, ...], tuple[slice, ...]]
"""An output, the part of it that a block is copied to, and that part of the block."""


class _Reading(Fetcher):
    def __init__(self, source: _Samples, max_cached_bytes: int) -> None:
        self._source = source
        self._blocks = RecentlyUsed(max_cached_bytes)
        self._indices = RecentlyUsed(_INDEX_BYTES)

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
            block = self._source.arrays[path][number].block(numbers, self._indices)
            self._copy(key, block, wanted[key])
            # One that is absent is kept, too.
            kept, num_bytes = (False, 64) if block is None else (block, block.nbytes)
            self._blocks.put(key, kept, num_bytes)
            return key if block is None else None

        storage = self._source.reads
        if storage.is_used:
            num_threads = storage.options.max_in_flight
        else:
            sizes = (self._source.arrays[p][n].metadata.codec.num_bytes for p, n, _ in missing)
            num_threads = len(os.sched_getaffinity(0)) if sum(sizes) > _BYTES_FOR_THREADS else 1
        num_threads = min(num_threads, len(missing))
        return map_in_threads(read, missing, num_threads) if num_threads > 1 else map(read, missing)

    def _copy(self, key: Any, block: Any, parts: Sequence[_Part]) -> None:
        fill = self._source.arrays[key[0]][key[1]].metadata.fill
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
            require_memory(math.prod(extents) * array.metadata.dtype.itemsize)
            output = np.empty(extents, array.metadata.dtype)
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
