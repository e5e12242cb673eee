"""The format of `fn.readers.hdf5`: data sets of HDF5 files, by rows or by groups."""

from __future__ import annotations

import io
import itertools
import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._extras import install_command
from dali_core._readers.byte_ranges import ByteRanges
from dali_core._readers.chunked_arrays import CROP_ARGS, Reading, check_crops, samples_of
from dali_core._readers.chunked_arrays import Samples as CropSamples
from dali_core._readers.fingerprints import fingerprint_of
from dali_core._readers.formats.hdf5_chunks import Hdf5Chunks
from dali_core._readers.name_patterns import has_pattern, matches_of
from dali_core._readers.object_file import ObjectFile
from dali_core._readers.protocol import DataSource, Fetcher
from dali_core._readers.python_reader import Format
from dali_core._runtime.remote_reads import require_memory
from dali_core._spec import Arg, Range
from dali_core._storage import STORAGE_ARGS, Storage, is_url
from dali_core.errors import ArgumentValueError, MissingModuleError

_MAX_OPEN = 32
_BUFFER_BYTES = 1 << 18  # of objects: HDF5 asks for a few bytes at a time
_CACHE_SLOTS = 10007  # a prime, as HDF5 wants

_LISTING_ARGS = (
    Arg("paths", list[str], "Paths or URLs of the files, whose samples come in this order."),
    Arg(
        "datasets",
        list[str],
        'Paths of the data sets in the files; there is an output for each. ``"a/b"`` is also the '
        "field ``b`` of the compound data set ``a``.",
        length=Range(1, 4096),
    ),
    *CROP_ARGS,
    *STORAGE_ARGS,
)


class Hdf5(Format):
    """Rows of data sets, or data sets in groups."""

    name = "readers.hdf5"
    doc = """Read data sets of HDF5 files.

A sample is a row of each of the data sets, which have equally many rows in a file. With a ``*`` in
the paths, such as ``"demo_*/obs/state"``, each match in a file is a sample, in natural order, and
what is read are whole data sets; the ``*`` stands for the same text in all paths. With `crop` a
sample is a part of each data set, at the same place: chunks are listed once, and then read and
decoded in threads.

Numbers and booleans have their types, in the byte order of the machine. Texts are 1-D arrays of
uint8, and ragged numbers 1-D arrays. Files are read by h5py (the extra is `hdf5`). Errors name the
file, the data set and the row.

Returns
-------
DataNode or list of DataNode
    The data sets in the order of `datasets`; a list if there are several."""
    args = (
        *_LISTING_ARGS,
        Arg(
            "max_cached_bytes",
            int,
            "How many bytes of decoded chunks are kept in memory of each open data set, or with "
            "`crop` of all; a chunk that is larger is decoded for each row.",
            64 << 20,
            range=Range(0),
        ),
    )
    listing_args = _LISTING_ARGS

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Check that h5py is installed, and that arguments of crops fit each other."""
        check_crops(arguments)
        try:
            import h5py  # noqa: F401
        except ImportError as error:
            raise MissingModuleError(
                f"reading HDF5 files needs h5py (got none: {error}). Install it: "
                f"{install_command('hdf5')}."
            ) from error

    def open(self, arguments: Mapping[str, Any], storage: Storage) -> DataSource:
        """List rows or matches of all files."""
        self.check(arguments)
        files = Files(arguments["paths"], storage)
        names = arguments["datasets"]
        if "crop" in arguments:
            arrays = [_chunked(files, file, names) for file in range(len(files.paths))]
            return samples_of(files.paths, arrays, arguments, storage)
        listings = []
        for file, path in enumerate(files.paths):
            try:
                with files.open(file) as opened:
                    listings.append(_list_file(opened, names))
            except ArgumentValueError:
                raise
            except Exception as error:  # of h5py, of many kinds
                raise ArgumentValueError(
                    f"paths must be HDF5 files with all datasets (got {path!r}: {error}). Check "
                    "files and datasets."
                ) from error
        kinds = [listing.kinds for listing in listings]
        for path, kind in zip(files.paths, kinds, strict=True):
            if kind != kinds[0]:
                raise ArgumentValueError(
                    f"datasets must have the same types in all files (got {kind} in {path!r}, and "
                    f"{kinds[0]} in {files.paths[0]!r}). Convert the files."
                )
        found = Samples(files, listings, has_pattern(names))
        if not len(found):
            raise ArgumentValueError(
                f"datasets must have at least one sample (got none in {files.paths[0]!r}). Check "
                "them."
            )
        return found

    def num_outputs(self, arguments: Mapping[str, Any]) -> int:
        """Return the number of data sets."""
        return len(arguments["datasets"])

    def fetcher(self, source: DataSource, arguments: Mapping[str, Any]) -> Fetcher:
        """Read from files that stay open, or chunks of them."""
        if isinstance(source, CropSamples):
            return Reading(source, arguments["max_cached_bytes"])
        assert isinstance(source, Samples)
        return _Reading(source, arguments["max_cached_bytes"])


class Files:
    """Files of a reader, which h5py opens.

    Parameters
    ----------
    paths : sequence of str
        Paths or URLs.
    storage : Storage
        What reads URLs.

    Attributes
    ----------
    ranges : ByteRanges
        Parts of the files.
    """

    def __init__(self, paths: Sequence[str], storage: Storage) -> None:
        self.ranges = ByteRanges(paths, storage)
        self._sizes = self.ranges.sizes
        self._storage = storage
        self.paths, self.names = self.ranges.paths, self.ranges.names

    def open(self, file: int, cache_bytes: int = 1 << 20) -> Any:
        """Open a file, with a cache of chunks for each data set."""
        import h5py

        path = self.paths[file]
        options = {"rdcc_nbytes": cache_bytes, "rdcc_nslots": _CACHE_SLOTS}
        if is_url(path):
            raw = ObjectFile(self._storage, path, self._sizes[file])
            return h5py.File(io.BufferedReader(raw, _BUFFER_BYTES), "r", **options)
        # Some file systems have no locks, and what the program has open itself must be opened again
        # as it was then; otherwise the default, with which the program can open it, too.
        failures = []
        for locking in (None, False, True):
            try:
                return h5py.File(path, "r", locking=locking, **options)
            except OSError as error:
                failures.append(error)
        raise failures[0]


def _chunked(files: Files, file: int, names: Sequence[str]) -> list[Hdf5Chunks]:
    """Return data sets that are read chunk by chunk.

    Raises
    ------
    ArgumentValueError
        If one is not there, or has something else than numbers.
    """
    found = []
    try:
        with files.open(file) as opened:
            for name in names:
                data, field = _column(opened, name)
                if field or data.dtype.kind not in "iufb" or not data.shape:
                    raise ValueError(f"{name!r} must be an array of numbers")
                _kind((data, field))
                found.append(Hdf5Chunks(files, file, name, data))
    except Exception as error:  # of h5py, of many kinds
        raise ArgumentValueError(
            f"paths must be HDF5 files with all datasets (got {files.paths[file]!r}: {error}). "
            "Check files and datasets; with crop they have no patterns, fields or texts."
        ) from error
    return found


@dataclass(frozen=True)
class _Listing:
    names: list[list[str]]  # of the data sets: one list for rows, or one for each match
    kinds: list[str]  # types of their elements
    shapes: list[tuple[int, ...]]  # of the first data set of each list
    chunk_rows: int  # that are decoded together


def _list_file(opened: Any, names: Sequence[str]) -> _Listing:
    if has_pattern(names):
        present = [one for name in names if "*" in name for one in _candidates(opened, name)]
        matches = matches_of(names, present)
        kinds_of = [[_kind(_column(opened, name)) for name in match] for match in matches]
        if any(kinds != kinds_of[0] for kinds in kinds_of):
            raise ValueError(f"what {names[0]!r} matches must have one type")
        shapes = [_column(opened, match[0])[0].shape for match in matches]
        return _Listing(matches, kinds_of[0] if kinds_of else [], shapes, 1)
    columns = [_column(opened, name) for name in names]
    counts = {data.shape[:1] for data, _ in columns}
    if len(counts) > 1 or () in counts:
        found = ", ".join(str(data.shape) for data, _ in columns)
        raise ValueError(f"data sets must have equally many rows (they have the shapes {found})")
    chunks = [data.chunks[0] if data.chunks else 1 for data, _ in columns]
    kinds = [_kind(column) for column in columns]
    return _Listing([list(names)], kinds, [columns[0][0].shape], max(chunks))


def _candidates(opened: Any, pattern: str) -> list[str]:
    """Return the paths that a pattern may match: of one group, all members."""
    before, _, after = pattern.partition("*")
    start = before[: before.rfind("/") + 1]
    _, slash, rest = after.partition("/")
    members = (f"{start}{name}{slash}{rest}" for name in opened[start or "/"])
    return [path for path in members if path in opened]


def _column(opened: Any, name: str) -> tuple[Any, str]:
    """Return a data set, and the field of it that is meant, or an empty text."""
    import h5py

    data, field = opened.get(name), ""
    if data is None:
        parent, _, field = name.rpartition("/")
        data = opened.get(parent) if parent else None
        if not isinstance(data, h5py.Dataset) or field not in (data.dtype.names or ()):
            raise ValueError(f"there is no data set {name!r} in it")
    if not isinstance(data, h5py.Dataset) or data.shape is None:
        raise ValueError(f"{name!r} must be a data set that is not empty")
    return data, field


def _kind(column: tuple[Any, str]) -> str:
    """Return the name of the type of arrays, or ``"text"``."""
    import h5py

    data, field = column
    dtype = data.dtype[field] if field else data.dtype
    rank = len(data.shape) - 1
    if h5py.check_string_dtype(dtype) is not None and rank < 1:
        return "text"
    base = h5py.check_vlen_dtype(dtype) or dtype
    is_number = isinstance(base, np.dtype) and (base.kind in "iub" or base.kind == "f")
    if is_number and base.itemsize <= 8 and base.subdtype is None:
        return str(base.newbyteorder("="))
    raise ValueError(f"{data.name!r} must have numbers or one text in a row (it has {dtype})")


class Samples(DataSource):
    """Rows or matches of some files.

    Parameters
    ----------
    files : Files
        The files.
    listings : sequence of _Listing
        What they have.
    are_matches : bool
        Whether samples are matches, and not rows.
    """

    def __init__(self, files: Files, listings: Sequence[_Listing], are_matches: bool) -> None:
        self.files, self.listings, self.are_matches = files, listings, are_matches
        counts = [len(one.names) if are_matches else one.shapes[0][0] for one in listings]
        self.ends = np.cumsum(counts)
        self._counts = counts

    def __len__(self) -> int:
        return int(self.ends[-1])

    @property
    def lengths(self) -> NDArray[np.int64] | None:
        """Of matches, the rows of the first data set."""
        if not self.are_matches:
            return None
        shapes = itertools.chain.from_iterable(one.shapes for one in self.listings)
        return np.array([shape[0] if shape else 1 for shape in shapes], np.int64)

    @property
    def blocks(self) -> Sequence[int] | None:
        """The number of rows in each chunk; None if each row can be read alone."""
        if self.are_matches or all(one.chunk_rows == 1 for one in self.listings):
            return None
        return [
            min(one.chunk_rows, count - first)
            for one, count in zip(self.listings, self._counts, strict=True)
            for first in range(0, count, one.chunk_rows)
        ]

    @property
    def fingerprint(self) -> str:
        """Names of the files, and data sets and shapes in them."""
        described = [(one.names, one.kinds, one.shapes) for one in self.listings]
        return fingerprint_of(self.files.names, described)


class _Reading(Fetcher):
    def __init__(self, source: Samples, cache_bytes: int) -> None:
        self._source = source
        self._cache_bytes = cache_bytes
        # Data sets stay open with their files, since each has the cache of its chunks.
        self._open: OrderedDict[int, tuple[Any, dict[str, tuple[Any, str]]]] = OrderedDict()

    def fetch_many(self, indices: Sequence[int]) -> Sequence[Any]:
        """Read some samples; rows that follow each other are read together."""
        files = np.searchsorted(self._source.ends, indices, side="right").tolist()
        samples: dict[int, tuple[Any, ...]] = {}
        for file, own in itertools.groupby(
            sorted(set(zip(files, indices, strict=True))), lambda pair: pair[0]
        ):
            first = int(self._source.ends[file - 1]) if file else 0
            numbers = [index - first for _, index in own]
            listing = self._source.listings[file]
            if self._source.are_matches:
                for number in numbers:
                    samples[number + first] = tuple(
                        self._read(file, name, kind, ...)
                        for name, kind in zip(listing.names[number], listing.kinds, strict=True)
                    )
                continue
            for start, stop in _runs(numbers):
                columns = [
                    self._read(file, name, kind, slice(start, stop))
                    for name, kind in zip(listing.names[0], listing.kinds, strict=True)
                ]
                for number, row in enumerate(zip(*columns, strict=True), start + first):
                    samples[number] = row
        return [samples[index] for index in indices]

    def _read(self, file: int, name: str, kind: str, part: Any) -> Any:
        """Return an array, or of rows a list of arrays."""
        try:
            data, field = self._data(file, name)
            shape = data.shape if part is ... else (part.stop - part.start, *data.shape[1:])
            require_memory(math.prod(shape) * data.dtype.itemsize)
            found = (data.fields(field) if field else data)[part]
            if part is ...:
                return _array(found, kind)
            if len(found) != part.stop - part.start:
                raise ValueError(f"it has {len(data)} rows by now")
            return [_array(row, kind) for row in found]
        except Exception as error:  # of h5py, of many kinds
            where = "" if part is ... else f", row {part.start}"
            where += "" if part is ... or part.stop == part.start + 1 else f" to {part.stop - 1}"
            raise ValueError(
                f"{self._source.files.paths[file]!r}, data set {name!r}{where}: {error}"
            ) from error

    def _data(self, file: int, name: str) -> tuple[Any, str]:
        if file not in self._open:
            while len(self._open) >= _MAX_OPEN:
                _, (oldest, _) = self._open.popitem(last=False)
                oldest.close()
            self._open[file] = self._source.files.open(file, self._cache_bytes), {}
        self._open.move_to_end(file)
        opened, data = self._open[file]
        if name not in data:
            data[name] = _column(opened, name)
        return data[name]


def _array(value: Any, kind: str) -> NDArray[Any]:
    if kind == "text":
        value = value.item() if isinstance(value, np.ndarray) else value
        return np.frombuffer(value.encode() if isinstance(value, str) else bytes(value), np.uint8)
    array = np.asarray(value)
    if array.dtype == object:  # a ragged number that is alone in its data set
        array = np.asarray(array.item())
    return np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(array.shape)


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Return the beginnings and ends of ascending numbers that follow each other."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number:
            runs[-1] = (runs[-1][0], number + 1)
        else:
            runs.append((number, number + 1))
    return runs
