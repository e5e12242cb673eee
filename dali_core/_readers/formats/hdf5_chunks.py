"""Chunks of HDF5 data sets: listed once by the library, and then read and decoded without it.

The library has one lock for all files, so that threads wait for each other while it decodes.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import sys
import threading
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._runtime.remote_reads import require_memory

_DEFLATE, _SHUFFLE, _FLETCHER32 = 1, 2, 3
_OWN = {_DEFLATE, _SHUFFLE, _FLETCHER32}
_WORDS = {2: np.uint16, 4: np.uint32, 8: np.uint64}
_UNCHUNKED = 64  # extent of the blocks of what has no chunks, and is read by the library
_MOST_GROWTH = 1 << 16  # bytes of checksums, and of what does not compress


class Hdf5Chunks:
    """A data set of a file, read chunk by chunk.

    Parameters
    ----------
    files : Files
        Opens files by the library.
    file : int
        Which of them.
    name : str
        The data set.
    data : object
        The data set as the library has it open, which is not kept.

    Attributes
    ----------
    path : str
        File and data set, for messages.
    """

    def __init__(self, files: Any, file: int, name: str, data: Any) -> None:
        self.path = f"{files.paths[file]}, data set {name}"
        self._files, self._file, self._name = files, file, name
        self._shape = tuple(map(int, data.shape))
        self._stored: np.dtype[Any] = data.dtype
        self._fill = np.asarray(data.fillvalue, self.dtype)
        self._filters = _filters_of(data)
        self._chunks = data.chunks if data.chunks and self._filters is not None else None
        self._places: dict[tuple[int, ...], tuple[int, int, int]] | None = None
        self._lock = threading.Lock()
        self._opened: Any = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the data set."""
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements, in the byte order of the machine."""
        native: np.dtype[Any] = self._stored.newbyteorder("=")
        return native

    @property
    def fill(self) -> NDArray[Any]:
        """The value of chunks that were never written."""
        return self._fill

    @property
    def block_shape(self) -> tuple[int, ...]:
        """The shape of a chunk."""
        return self._chunks or tuple(min(extent, _UNCHUNKED) or 1 for extent in self._shape)

    def block(self, numbers: tuple[int, ...]) -> NDArray[Any] | None:
        """Read a chunk; None if it was never written.

        Raises
        ------
        ValueError
            If it is damaged. The message names file, data set and chunk.
        """
        try:
            if self._chunks is None:
                return self._by_library(numbers)
            place = self._listed().get(numbers)
            return None if place is None else self._decoded(*place)
        except Exception as error:  # of h5py and of decoders, of many kinds
            path = self._files.paths[self._file]
            raise ValueError(
                f"{path!r}, data set {self._name!r}, chunk {numbers}: {error}"
            ) from error

    def check_present(self) -> None:
        """Do nothing: chunks that are absent were absent when they were listed."""
        return

    def _data(self) -> Any:
        # Files of other processes and threads are theirs: this is closed with this object.
        if self._opened is None:
            self._opened = self._files.open(self._file)
        return self._opened[self._name]

    def _by_library(self, numbers: tuple[int, ...]) -> NDArray[Any]:
        part = tuple(
            slice(number * size, (number + 1) * size)
            for number, size in zip(numbers, self.block_shape, strict=True)
        )
        with self._lock:
            found = np.asarray(self._data()[part])
        return found.astype(self.dtype, copy=False)

    def _listed(self) -> dict[tuple[int, ...], tuple[int, int, int]]:
        """Return first byte, number of bytes and filter mask of all chunks."""
        with self._lock:
            if self._places is None:
                identifier, chunks = self._data().id, self._chunks
                assert chunks is not None
                found = {}

                def note(info: Any) -> None:
                    numbers = (int(a) // b for a, b in zip(info.chunk_offset, chunks, strict=True))
                    place = int(info.byte_offset), int(info.size), int(info.filter_mask)
                    found[tuple(numbers)] = place

                if hasattr(identifier, "chunk_iter"):
                    identifier.chunk_iter(note)
                else:
                    for number in range(identifier.get_num_chunks()):
                        note(identifier.get_chunk_info(number))
                self._places = found
                self._opened.close()
                self._opened = None
            return self._places

    def _decoded(self, offset: int, size: int, mask: int) -> NDArray[Any]:
        assert self._chunks is not None
        num_bytes = math.prod(self._chunks) * self._stored.itemsize
        if size > 2 * num_bytes + _MOST_GROWTH:
            raise ValueError(f"a chunk of {num_bytes} bytes must not take {size}")
        require_memory(num_bytes)
        data = self._files.ranges.read(self._file, offset, size)
        for number, code in reversed(list(enumerate(self._filters or ()))):
            if mask >> number & 1:
                continue
            if code == _DEFLATE:
                data = _inflate(data, num_bytes + _MOST_GROWTH)
            elif code == _SHUFFLE:
                data = _unshuffled(data, self._stored.itemsize)
            else:
                data = _checked(data)
        if len(data) != num_bytes:
            raise ValueError(f"a chunk must have {num_bytes} bytes (it has {len(data)})")
        found: NDArray[Any] = np.frombuffer(data, self._stored).reshape(self._chunks)
        return found.astype(self.dtype, copy=False)


def _filters_of(data: Any) -> Sequence[int] | None:
    """Return the filters of a data set; None if the library has to read it."""
    import h5py

    creation = data.id.get_create_plist()
    # Some types have bits that are none of their numbers.
    is_plain = h5py.h5t.py_create(data.dtype, logical=True) == data.id.get_type()
    is_elsewhere = data.is_virtual or data.external or data.file.userblock_size
    codes = [creation.get_filter(number)[0] for number in range(creation.get_nfilters())]
    return codes if is_plain and not is_elsewhere and _OWN.issuperset(codes) else None


def _inflate(data: bytes, limit: int) -> bytes:
    library: Any = zlib
    with contextlib.suppress(ImportError):
        from isal import isal_zlib

        library = isal_zlib
    decoder = library.decompressobj()
    found: bytes = decoder.decompress(data, limit)
    if not decoder.eof:
        raise ValueError("a chunk must be deflated, with its end")
    return found


def _unshuffled(data: bytes, size: int) -> bytes:
    count = len(data) // size
    values = np.frombuffer(data, np.uint8)
    if size in _WORDS and count * size == len(data) and sys.byteorder == "little":
        # Shifted words are three times as fast as bytes that are far from each other.
        words = values[(size - 1) * count :].astype(_WORDS[size])
        for place in range(size - 2, -1, -1):
            words <<= 8
            words |= values[place * count : (place + 1) * count]
        return words.tobytes()
    whole = np.empty((count, size), np.uint8)
    for place in range(size):
        whole[:, place] = values[place * count : (place + 1) * count]
    return whole.tobytes() + values[count * size :].tobytes()


def _checked(data: bytes) -> bytes:
    """Return data without its checksum, which is that of Fletcher in 32 bits."""
    if len(data) < 4:
        raise ValueError("a chunk must have a checksum")
    rest, found = data[:-4], int.from_bytes(data[-4:], "little")
    words = np.frombuffer(rest + b"\0" * (len(rest) % 2), ">u2").astype(np.uint64)
    first = second = 0
    for start in itertools.count(0, 1 << 20):
        part = words[start : start + (1 << 20)]
        if not len(part):
            break
        weighted = int((part * np.arange(len(part), 0, -1, dtype=np.uint64)).sum())
        second += first * len(part) + weighted
        first += int(part.sum())
    sums = (_folded(first), _folded(second))
    swapped = int.from_bytes(found.to_bytes(4, "big"), "little")
    if sums[1] << 16 | sums[0] not in (found, swapped):
        raise ValueError("the checksum must be that of the data")
    return rest


def _folded(value: int) -> int:
    """Return a sum modulo 65535, which is 0 for 0 only."""
    return (value - 1) % 0xFFFF + 1 if value else 0
