"""Codecs of Zarr chunks: from stored bytes to arrays, never more bytes than a chunk has."""

from __future__ import annotations

import bz2
import importlib
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._extras import install_command
from dali_core._readers.inflating import open_gzip
from dali_core._runtime.remote_reads import require_memory
from dali_core.errors import MissingModuleError

Unpack = Callable[[bytes, int], bytes]
"""Decodes bytes, to at most so many."""

MISSING = 2**64 - 1
"""Offset and size, in the index of a shard, of a chunk that was never written."""

_FILTERS = {  # of numcodecs, with those parts of their configurations that are types
    "astype": ("encode_dtype", "decode_dtype"),
    "bitround": (),
    "delta": ("dtype", "astype"),
    "fixedscaleoffset": ("dtype", "astype"),
    "packbits": (),
    "quantize": ("dtype", "astype"),
}
NAMES = ("bool", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)))
NAMES += ("float16", "float32", "float64")
_LARGEST_GROWTH = 16  # by a filter, such as one that makes float64 of 4 bits
_MOST_INDEX_BYTES = 1 << 28


def module_of(name: str) -> Any:
    """Import a library that decodes.

    Raises
    ------
    MissingModuleError
        If it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingModuleError(
            f"decoding these Zarr arrays needs {name} (got none: {error}). Install it: "
            f"{install_command('zarr')}."
        ) from error


def unpacker(name: str, options: Mapping[str, Any], *, at_start: bool) -> Unpack:
    """Return what decodes bytes to bytes.

    Parameters
    ----------
    name : str
        The codec, such as ``"zstd"``.
    options : mapping
        Its configuration.
    at_start : bool
        Whether checksums are in front of the bytes, as in version 2.

    Raises
    ------
    ValueError
        If there is no such codec here.
    MissingModuleError
        If its library is not installed.
    """
    if name in ("crc32c", "crc32", "adler32"):
        is_first = options.get("location", "start" if at_start else "end") == "start"
        return _checked(_checksum(name), is_first)
    if name == "shuffle":
        size = options.get("elementsize", 4)
        if type(size) is not int or not 1 <= size <= 255:
            raise ValueError(f"shuffle must have an elementsize from 1 to 255 (got {size!r})")
        return lambda data, limit: _unshuffled(data, size)
    if name in _UNPACKERS:
        if name in _LIBRARIES:
            module_of(_LIBRARIES[name])
        return _UNPACKERS[name]
    raise ValueError(f"codecs must be ones that are known (got {name[:60]!r})")


def _zstd(data: bytes, limit: int) -> bytes:
    zstandard = module_of("zstandard")
    size = zstandard.frame_content_size(data)
    if size > limit:
        raise ValueError(f"zstd says that there are {size} bytes, of at most {limit}")
    if size > 0:
        found: bytes = zstandard.ZstdDecompressor().decompress(data)
        return found
    reader = zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True)
    return _bounded(reader.read(limit + 1), limit)


def _blosc(data: bytes, limit: int) -> bytes:
    # The header says sizes, which the library believes.
    if len(data) < 16 or int.from_bytes(data[12:16], "little") != len(data):
        raise ValueError("a chunk of blosc must be as long as its header says")
    size = int.from_bytes(data[4:8], "little")
    if size > limit:
        raise ValueError(f"blosc says that there are {size} bytes, of at most {limit}")
    found: bytes = module_of("numcodecs.blosc").decompress(data)
    return found


def _lz4(data: bytes, limit: int) -> bytes:
    if int.from_bytes(data[:4], "little") > limit:
        raise ValueError(f"lz4 must have at most {limit} bytes in it")
    found: bytes = module_of("numcodecs.lz4").decompress(data)
    return found


def _gzip(data: bytes, limit: int) -> bytes:
    return _bounded(open_gzip(data).read(limit + 1), limit)


def _zlib(data: bytes, limit: int) -> bytes:
    decoder = zlib.decompressobj()
    found = _bounded(decoder.decompress(data, limit + 1), limit)
    if not decoder.eof:
        raise ValueError("it must be compressed by zlib, with its end")
    return found


def _bz2(data: bytes, limit: int) -> bytes:
    decoder = bz2.BZ2Decompressor()
    found = _bounded(decoder.decompress(data, limit + 1), limit)
    if not decoder.eof:
        raise ValueError("it must be compressed by bz2, with its end")
    return found


_UNPACKERS: Mapping[str, Unpack] = {
    "blosc": _blosc,
    "bz2": _bz2,
    "gzip": _gzip,
    "lz4": _lz4,
    "zlib": _zlib,
    "zstd": _zstd,
}
_LIBRARIES = {"blosc": "numcodecs.blosc", "lz4": "numcodecs.lz4", "zstd": "zstandard"}


def _bounded(found: bytes, limit: int) -> bytes:
    if len(found) > limit:
        raise ValueError(f"there must be at most {limit} bytes in it")
    return found


def _checksum(name: str) -> Callable[[bytes], int]:
    if name != "crc32c":
        return zlib.crc32 if name == "crc32" else zlib.adler32
    value: Callable[[bytes], int] = module_of("google_crc32c").value
    return value


def _checked(checksum: Callable[[bytes], int], is_first: bool) -> Unpack:
    def check(data: bytes, limit: int) -> bytes:
        if len(data) < 4:
            raise ValueError("there must be a checksum")
        mark, rest = (data[:4], data[4:]) if is_first else (data[-4:], data[:-4])
        if checksum(rest) != int.from_bytes(mark, "little"):
            raise ValueError("the checksum must be that of the data")
        return rest

    return check


def _unshuffled(data: bytes, size: int) -> bytes:
    count = len(data) // size
    bytes_of = np.frombuffer(data, np.uint8)
    whole = bytes_of[: count * size].reshape(size, count).T
    rest = bytes_of[count * size :]
    found: bytes = np.concatenate([whole.reshape(-1), rest]).tobytes()
    return found


def filter_of(name: str, options: Mapping[str, Any]) -> Unpack | None:
    """Return what decodes elements to elements, by numcodecs; None if `name` is no such filter.

    Raises
    ------
    ValueError
        If a type in the configuration is none of numbers.
    MissingModuleError
        If numcodecs is not installed.
    """
    if name not in _FILTERS:
        return None
    for kind in _FILTERS[name]:
        if kind in options:
            number_type(options[kind])
    module_of("numcodecs")
    codec = module_of("numcodecs.registry").get_codec({**options, "id": name})

    def decode(data: bytes, limit: int) -> bytes:
        # A copy: some write into what they get.
        found: NDArray[Any] = np.ascontiguousarray(codec.decode(bytearray(data)))
        return _bounded(found.tobytes(), limit)

    return decode


def number_type(text: Any) -> np.dtype[Any]:
    """Return the type of elements that version 2 describes so.

    Raises
    ------
    ValueError
        If it is none of real numbers of up to 64 bits, or booleans.
    """
    known = {"|b1", "|i1", "|u1", *(e + k for e in "<>" for k in ("f2", "f4", "f8"))}
    known |= {e + k + s for e in "<>" for k in "iu" for s in "248"}
    if isinstance(text, str) and text in (*known, *NAMES):
        return np.dtype(text)
    if isinstance(text, str) and text[:1] in "<>" and "|" + text[1:] in known:
        return np.dtype(text)
    raise ValueError(
        f"elements must be real numbers of up to 64 bits or booleans (got {str(text)[:60]!r})"
    )


@dataclass(frozen=True)
class ChunkCodec:
    """What makes an array of the bytes of a chunk.

    Attributes
    ----------
    shape : tuple of int
        Of the array.
    dtype : numpy.dtype
        Of its elements as they are stored.
    axes : tuple of int or None
        The axes of the array in the order in which they are stored; None as they are.
    unpackers : sequence of callable
        They decode bytes, one after the other.
    sharding : Sharding or None
        How the bytes are divided into chunks, if they are a shard.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    axes: tuple[int, ...] | None
    unpackers: Sequence[Unpack]
    sharding: Sharding | None

    @property
    def num_bytes(self) -> int:
        """The number of bytes of the array."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def most_stored_bytes(self) -> int:
        """How many bytes a chunk can have as it is stored, whatever encodes it."""
        return _LARGEST_GROWTH * self.num_bytes + _MOST_INDEX_BYTES

    def decode(self, data: bytes, fill: NDArray[Any]) -> NDArray[Any]:
        """Return the array; chunks that a shard has not are filled.

        Raises
        ------
        ValueError
            If the bytes are not those of a chunk.
        """
        require_memory(self.num_bytes)
        for number, unpack in enumerate(self.unpackers, 1):
            is_last = number == len(self.unpackers) and self.sharding is None
            limit = self.num_bytes if is_last else _LARGEST_GROWTH * self.num_bytes + (1 << 16)
            data = unpack(data, limit)
        axes = self.axes or tuple(range(len(self.shape)))
        shape = tuple(self.shape[axis] for axis in axes)
        if self.sharding is not None:
            array = self.sharding.decode(data, shape, fill)
        elif len(data) != self.num_bytes:
            raise ValueError(f"a chunk must have {self.num_bytes} bytes (it has {len(data)})")
        else:
            array = np.frombuffer(data, self.dtype).reshape(shape)
        return array.transpose(np.argsort(axes)) if self.axes is not None else array


@dataclass(frozen=True)
class Sharding:
    """How a shard is divided into chunks.

    Attributes
    ----------
    codec : ChunkCodec
        Of the chunks in it.
    grid : tuple of int
        How many there are along each axis.
    order : str
        Byte order of the index, ``"<"`` or ``">"``.
    num_checksums : int
        How many checksums the index has.
    is_at_end : bool
        Whether the index is at the end of the shard, not at its start.
    """

    codec: ChunkCodec
    grid: tuple[int, ...]
    order: str
    num_checksums: int
    is_at_end: bool

    @property
    def index_bytes(self) -> int:
        """The number of bytes of the index."""
        return 16 * math.prod(self.grid) + 4 * self.num_checksums

    def parse_index(self, data: bytes) -> NDArray[np.uint64]:
        """Return the first byte and the number of bytes of each chunk.

        Raises
        ------
        ValueError
            If the checksum is wrong.
        """
        for _ in range(self.num_checksums):
            data = _checked(_checksum("crc32c"), False)(data, len(data))
        return np.frombuffer(data, self.order + "u8").reshape(*self.grid, 2).astype(np.uint64)

    def place(self, index: NDArray[np.uint64], chunk: tuple[int, ...], size: int) -> Any:
        """Return first byte and number of bytes of a chunk in a shard of some size; None if absent.

        Raises
        ------
        ValueError
            If they are not in the shard.
        """
        offset, count = map(int, index[chunk])
        if offset == count == MISSING:
            return None
        if offset + count > size:
            raise ValueError(
                f"chunk {chunk} must be in the shard of {size} bytes (got {offset} to "
                f"{offset + count})"
            )
        return offset, count

    def decode(self, data: bytes, shape: tuple[int, ...], fill: NDArray[Any]) -> NDArray[Any]:
        """Return the array of a whole shard."""
        count = self.index_bytes
        if len(data) < count:
            raise ValueError(f"a shard must have an index of {count} bytes")
        index = self.parse_index(data[-count:] if self.is_at_end else data[:count])
        array = np.full(shape, fill, self.codec.dtype)
        for chunk in product(*map(range, self.grid)):
            found = self.place(index, chunk, len(data))
            if found is not None:
                part = tuple(
                    slice(n * extent, (n + 1) * extent)
                    for n, extent in zip(chunk, self.codec.shape, strict=True)
                )
                offset, size = found
                array[part] = self.codec.decode(data[offset : offset + size], fill)
        return array


def check_index(grid: Sequence[int]) -> None:
    """Check that the index of a shard is of a size that can be.

    Raises
    ------
    ValueError
        If it is not.
    """
    if 16 * math.prod(grid) > _MOST_INDEX_BYTES:
        raise ValueError(f"a shard must have at most {_MOST_INDEX_BYTES // 16} chunks")
