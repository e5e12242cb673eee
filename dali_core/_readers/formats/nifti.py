"""The format of `fn.readers.nifti`: volumes of NIfTI files."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dali_core._readers.byte_ranges import ByteRanges
from dali_core._readers.fingerprints import fingerprint_of
from dali_core._readers.formats.nifti_header import (
    HEADER_BYTES,
    ORIENTATIONS,
    Header,
    reoriented,
)
from dali_core._readers.inflating import open_gzip
from dali_core._readers.protocol import DataSource, Fetcher
from dali_core._readers.python_reader import Format
from dali_core._runtime.thread_start import map_in_threads
from dali_core._spec import UNSET, Arg, Range
from dali_core._storage import Storage, join_path
from dali_core.operators.readers.listed_files import ListedFiles, file_args, list_files

_LARGEST_RATIO = 1032  # of deflate
_MOST_BEHIND = 1 << 20  # bytes after the data, which are read for the checksum


class Nifti(Format):
    """Volumes of NIfTI-1 and NIfTI-2 files."""

    name = "readers.nifti"
    doc = """Read volumes from NIfTI files: ``.nii``, ``.nii.gz``, and ``.hdr`` with ``.img``.

A volume has the axes of the file, x, y, z and perhaps more, as float32: what is stored is scaled in
64 bits, and then rounded. The affine maps indices to places, as the sform says, or the qform, or
else the sizes of voxels. Files that are compressed are decoded as a whole, and kept. Errors name
the file.

Returns
-------
list of DataNode
    The volumes, and their affines: float64, of the shape (4, 4)."""
    args = (
        *file_args("*.nii*"),
        Arg(
            "orientation",
            str,
            "Directions in which the first three axes ascend, such as ``'RAS'``: axes are flipped "
            "and permuted, and the affine with them. By default they are those of the file.",
            UNSET,
            choices=ORIENTATIONS,
        ),
        Arg(
            "max_cached_bytes",
            int,
            "How many bytes of decoded files are kept in memory; those that were not used for "
            "longest are dropped.",
            512 << 20,
            range=Range(0),
        ),
    )

    def open(self, arguments: Mapping[str, Any], storage: Storage) -> DataSource:
        """List the files."""
        return _Files(**vars(list_files(dict(arguments), storage)), reads=storage)

    def num_outputs(self, arguments: Mapping[str, Any]) -> int:
        """Return the number of volume and affine."""
        return 2

    def fetcher(self, source: DataSource, arguments: Mapping[str, Any]) -> Fetcher:
        """Read volumes, and keep what was decoded."""
        assert isinstance(source, _Files)
        return _Volumes(source, arguments.get("orientation"), arguments["max_cached_bytes"])


@dataclass(frozen=True)
class _Files(ListedFiles):
    reads: Storage = field(kw_only=True)

    @property
    def fingerprint(self) -> str:
        return fingerprint_of(list(self.files))

    def native_arguments(self) -> dict[str, Any]:
        return {"sample_names": self.files.address}


class _Volumes(Fetcher):
    def __init__(self, source: _Files, orientation: str | None, max_cached_bytes: int) -> None:
        self._source = source
        self._orientation = orientation
        self._max_cached_bytes = max_cached_bytes
        self._cached: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()  # of the cache
        self._waiting: dict[int, tuple[Any, ...] | Exception] = {}  # of a batch

    def fetch(self, index: int) -> tuple[Any, ...]:
        """Return a volume and its affine."""
        found = self._waiting.pop(index, None) or self._attempt(index)
        if isinstance(found, Exception):
            raise found
        return found

    def _attempt(self, index: int) -> tuple[Any, ...] | Exception:
        try:
            return self._volume(index)
        except Exception as error:  # decoders have errors of their own
            return error

    def _volume(self, index: int) -> tuple[Any, ...]:
        path = join_path(self._source.root, self._source.files[index])
        try:
            header, data = self._read(path)
            volume = header.volume(data)
            if self._orientation is None:
                return volume, header.affine
            return reoriented(volume, header.affine, self._orientation)
        except Exception as error:
            raise ValueError(f"{path!r} must be a file of NIfTI ({error}). Check it.") from error

    def fetch_many(self, indices: Sequence[int]) -> None:
        """Read the volumes of a batch in threads, for `fetch` to return."""
        wanted = list(dict.fromkeys(indices))
        storage = self._source.reads
        processors = len(os.sched_getaffinity(0))
        num_threads = storage.options.max_in_flight if storage.is_used else processors
        found = map_in_threads(self._attempt, wanted, min(num_threads, len(wanted)))
        self._waiting = dict(zip(wanted, found, strict=True))

    def _read(self, path: str) -> tuple[Header, bytes]:
        """Return the header of a volume, and the bytes of its data."""
        suffix = ".gz" if path.endswith(".gz") else ""
        stem = path.removesuffix(suffix)
        if not stem.endswith((".hdr", ".img")):
            return self._load(path, None)
        # Of a pair, either file may be named.
        head = self._file(f"{stem[:-4]}.hdr{suffix}")
        start = open_gzip(head.read(0)).read(HEADER_BYTES) if suffix else _start(head)
        return self._load(f"{stem[:-4]}.img{suffix}", Header.parse(start))

    def _load(self, path: str, header: Header | None) -> tuple[Header, bytes]:
        """Return header and data of a file, the header of which may be known."""
        if not path.endswith(".gz"):
            file = self._file(path)
            header = header or _own_header(_start(file))
            return header, file.read(0, header.offset, header.num_bytes)
        with self._lock:
            data = self._cached.get(path)
        if data is None:
            packed = self._file(path).read(0)
            known = header or _own_header(open_gzip(packed).read(HEADER_BYTES))
            data = _inflate(packed, known.offset + known.num_bytes)
        self._keep(path, data)
        header = header or _own_header(data[:HEADER_BYTES])
        return header, data[header.offset : header.offset + header.num_bytes]

    def _file(self, path: str) -> ByteRanges:
        return ByteRanges([path], self._source.reads, "files")

    def _keep(self, path: str, data: bytes) -> None:
        """Put the bytes of a file into the cache, as those that were used last."""
        with self._lock:
            self._cached[path] = data
            self._cached.move_to_end(path)
            while sum(map(len, self._cached.values())) > self._max_cached_bytes:
                self._cached.popitem(last=False)


def _start(file: ByteRanges) -> bytes:
    return file.read(0, 0, min(HEADER_BYTES, file.size(0)))


def _own_header(start: bytes) -> Header:
    header = Header.parse(start)
    if header.is_pair:
        raise ValueError("the header of a pair must be in a .hdr file")
    return header


def _inflate(data: bytes, num_bytes: int) -> bytes:
    """Decode so many bytes, and read on to the checksum at the end, which finds damage."""
    if num_bytes > _LARGEST_RATIO * len(data):
        raise ValueError(f"{len(data)} compressed bytes must have {num_bytes} bytes in them")
    file = open_gzip(data)
    found: bytes = file.read(num_bytes)
    if len(found) != num_bytes:
        raise ValueError(f"it must have {num_bytes} bytes (it has {len(found)})")
    if len(file.read(_MOST_BEHIND + 1)) > _MOST_BEHIND:
        raise ValueError(f"there must be at most {_MOST_BEHIND} bytes after the data")
    return found
