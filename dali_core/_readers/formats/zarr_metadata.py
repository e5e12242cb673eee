"""Metadata of Zarr arrays and groups, of versions 2 and 3."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._readers.formats.zarr_codecs import (
    NAMES,
    ChunkCodec,
    Sharding,
    Unpack,
    check_index,
    filter_of,
    number_type,
    unpacker,
)

_MAX_DIMENSIONS = 32
_MOST_CHUNK_BYTES = 1 << 34


@dataclass(frozen=True)
class ArrayMetadata:
    """The metadata of an array.

    Attributes
    ----------
    shape : tuple of int
        Of the array.
    dtype : numpy.dtype
        Of its elements, in the byte order of the machine.
    codec : ChunkCodec
        Of its chunks, which are all of one shape: parts beyond the array are padding.
    fill : array
        The value of chunks that are absent.
    prefix, separator : str
        What the names of chunks begin with, and what is between their numbers.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    codec: ChunkCodec
    fill: NDArray[Any]
    prefix: str
    separator: str

    def key(self, chunk: tuple[int, ...]) -> str:
        """Return the name of a chunk."""
        return self.prefix + self.separator.join(map(str, chunk))


def parse_json(data: bytes) -> dict[str, Any]:
    """Read an object of JSON.

    Raises
    ------
    ValueError
        If it is none.
    """
    try:
        found = json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the metadata must be JSON ({error})") from error
    if not isinstance(found, dict):
        raise ValueError("the metadata must be an object of JSON")
    return found


def first_level(attributes: Mapping[str, Any]) -> str | None:
    """Return the path of the finest array of an OME pyramid; None if it is none."""
    described = attributes.get("ome", attributes)
    try:
        path = described["multiscales"][0]["datasets"][0]["path"]
    except (LookupError, TypeError):
        return None
    is_inside = isinstance(path, str) and ".." not in path.split("/") and path[:1] != "/"
    return path if is_inside and "\0" not in path and ":" not in path else None


def parse_v2(data: bytes) -> ArrayMetadata:
    """Read the file ``.zarray`` of an array.

    Raises
    ------
    ValueError
        If it cannot be read here.
    """
    found = parse_json(data)
    _expect(found, "zarr_format", 2)
    dtype = number_type(found.get("dtype"))
    shape, chunks = _shapes(found.get("shape"), found.get("chunks"), dtype)
    order, separator = found.get("order", "C"), found.get("dimension_separator", ".")
    if order not in ("C", "F"):
        raise ValueError(f"order must be 'C' or 'F' (got {order!r})")
    filters = found.get("filters") or []
    packed = [found["compressor"]] if found.get("compressor") else []
    if not isinstance(filters, list):
        raise ValueError("filters must be a list")
    unpackers = [_of_v2(entry) for entry in [*filters, *packed][::-1]]
    axes = tuple(range(len(shape)))[::-1] if order == "F" else None
    codec = ChunkCodec(chunks, dtype, axes, unpackers, None)
    fill = found.get("fill_value")
    return ArrayMetadata(
        shape,
        dtype.newbyteorder("="),
        codec,
        _fill(0 if fill is None else fill, dtype),
        "",
        _separator(separator),
    )


def parse_v3(found: Mapping[str, Any]) -> ArrayMetadata:
    """Read what ``zarr.json`` of an array has.

    Raises
    ------
    ValueError
        If it cannot be read here.
    """
    _expect(found, "zarr_format", 3)
    kind = found.get("data_type")
    if not isinstance(kind, str) or kind not in NAMES:
        raise ValueError(
            f"elements must be real numbers of up to 64 bits or booleans (got {str(kind)[:60]!r})"
        )
    dtype = np.dtype(kind)
    if found.get("storage_transformers"):
        raise ValueError("there must be no storage_transformers")
    grid, grid_options = _named(found.get("chunk_grid"))
    if grid != "regular":
        raise ValueError(f"chunk_grid must be 'regular' (got {grid[:60]!r})")
    shape, chunks = _shapes(found.get("shape"), grid_options.get("chunk_shape"), dtype)
    encoding, encoding_options = _named(found.get("chunk_key_encoding", {"name": "default"}))
    if encoding not in ("default", "v2"):
        raise ValueError(f"chunk_key_encoding must be 'default' or 'v2' (got {encoding[:60]!r})")
    is_v2 = encoding == "v2"
    separator = _separator(encoding_options.get("separator", "." if is_v2 else "/"))
    prefix = "" if is_v2 else f"c{separator}"
    codec = _codec(found.get("codecs"), chunks, dtype, 0)
    return ArrayMetadata(shape, dtype, codec, _fill(found["fill_value"], dtype), prefix, separator)


def _codec(listed: Any, shape: tuple[int, ...], dtype: np.dtype[Any], depth: int) -> ChunkCodec:
    if not isinstance(listed, list) or depth > 4:
        raise ValueError("codecs must be a list, with at most 4 levels of shards")
    axes: tuple[int, ...] | None = None
    stored: np.dtype[Any] | None = None
    sharding: Sharding | None = None
    unpackers: list[Unpack] = []
    filters: list[Unpack] = []
    for entry in listed:
        name, options = _named(entry)
        is_array = stored is None
        if name == "transpose" and is_array and not filters:
            order = options.get("order")
            order = {"C": [*range(len(shape))], "F": [*range(len(shape))][::-1]}.get(
                order if isinstance(order, str) else "", order
            )
            if not isinstance(order, list) or sorted(order, key=str) != sorted(
                range(len(shape)), key=str
            ):
                raise ValueError(f"transpose must have an order of the axes (got {order!r})")
            before = axes or tuple(range(len(shape)))
            axes = tuple(before[axis] for axis in order)
        elif name == "bytes" and is_array:
            endian = options.get("endian", "little")
            if endian not in ("little", "big"):
                raise ValueError(f"endian must be 'little' or 'big' (got {endian!r})")
            stored = dtype.newbyteorder("<" if endian == "little" else ">")
        elif name == "sharding_indexed" and is_array:
            outer = tuple(shape[axis] for axis in axes or range(len(shape)))
            sharding = _sharding(options, outer, dtype, depth)
            stored = dtype
        elif is_array and (decode := filter_of(name.removeprefix("numcodecs."), options)):
            filters.insert(0, decode)
        elif not is_array:
            unpackers.insert(0, unpacker(name.removeprefix("numcodecs."), options, at_start=False))
        else:
            raise ValueError(f"codecs must be ones that are known, in order (got {name[:60]!r})")
    if stored is None:
        raise ValueError("codecs must have 'bytes' or 'sharding_indexed'")
    if filters and (sharding is not None or stored.newbyteorder("=") != stored):
        raise ValueError("filters must be followed by 'bytes' in the byte order of this machine")
    return ChunkCodec(shape, stored, axes, [*unpackers, *filters], sharding)


def _sharding(
    options: Mapping[str, Any], outer: tuple[int, ...], dtype: np.dtype[Any], depth: int
) -> Sharding:
    inner = _extents(options.get("chunk_shape"), 1)
    if len(inner) != len(outer) or any(
        size % part for size, part in zip(outer, inner, strict=True)
    ):
        raise ValueError(f"shards of {outer} must be of whole chunks (got {inner})")
    grid = tuple(size // part for size, part in zip(outer, inner, strict=True))
    check_index(grid)
    order, num_checksums = "<", 0
    entries = options.get("index_codecs")
    for entry in entries if isinstance(entries, list) else [{"name": "none"}]:
        name, index_options = _named(entry)
        if name == "bytes" and not num_checksums:
            order = ">" if index_options.get("endian") == "big" else "<"
        elif name == "crc32c":
            unpacker(name, {}, at_start=False)
            num_checksums += 1
        else:
            raise ValueError(f"index_codecs must be 'bytes' and 'crc32c' (got {name[:60]!r})")
    location = options.get("index_location", "end")
    if location not in ("start", "end") or num_checksums > 1:
        raise ValueError(f"index_location must be 'start' or 'end' (got {location!r})")
    codec = _codec(options.get("codecs"), inner, dtype, depth + 1)
    return Sharding(codec, grid, order, num_checksums, location == "end")


def _named(entry: Any) -> tuple[str, Mapping[str, Any]]:
    """Return name and configuration of an extension point."""
    if isinstance(entry, str):
        return entry, {}
    if isinstance(entry, dict) and isinstance(entry.get("name"), str):
        options = entry.get("configuration", {})
        if isinstance(options, dict):
            return entry["name"], options
    raise ValueError(f"codecs, grids and encodings must have a name (got {str(entry)[:60]})")


def _of_v2(entry: Any) -> Unpack:
    if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
        raise ValueError(f"compressor and filters must have an id (got {str(entry)[:60]})")
    return filter_of(entry["id"], entry) or unpacker(entry["id"], entry, at_start=True)


def _expect(found: Mapping[str, Any], name: str, value: Any) -> None:
    if found.get(name) != value:
        raise ValueError(f"{name} must be {value} (got {str(found.get(name))[:60]})")


def _separator(found: Any) -> str:
    if found not in (".", "/"):
        raise ValueError(f"the separator of chunks must be '.' or '/' (got {str(found)[:60]!r})")
    return str(found)


def _extents(found: Any, least: int) -> tuple[int, ...]:
    if not isinstance(found, list) or not 1 <= len(found) <= _MAX_DIMENSIONS:
        raise ValueError(f"arrays must have 1 to {_MAX_DIMENSIONS} dimensions")
    if not all(type(extent) is int and least <= extent < 1 << 62 for extent in found):
        raise ValueError(f"extents must be integers from {least} on (got {str(found)[:60]})")
    return tuple(found)


def _shapes(shape: Any, chunks: Any, dtype: np.dtype[Any]) -> tuple[tuple[int, ...], ...]:
    extents, of_chunks = _extents(shape, 0), _extents(chunks, 1)
    if len(extents) != len(of_chunks):
        raise ValueError(f"chunks of {of_chunks} must have as many dimensions as {extents}")
    size = dtype.itemsize
    for extent in of_chunks:
        size *= extent
        if size > _MOST_CHUNK_BYTES:
            raise ValueError(f"a chunk must have at most {_MOST_CHUNK_BYTES} bytes")
    return extents, of_chunks


def _fill(value: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    dtype = dtype.newbyteorder("=")
    if dtype.kind == "f" and isinstance(value, str):
        if value.startswith("0x"):
            bits = np.array(int(value, 16), f"u{dtype.itemsize}")
            return bits.view(dtype)
        if value in ("NaN", "Infinity", "-Infinity"):
            return np.array(float(value), dtype)
    is_number = isinstance(value, (bool, int, float))
    if is_number and dtype.kind == "f":
        with np.errstate(over="ignore"):
            return np.array(value, dtype)
    if is_number and math.isfinite(value) and int(value) == value:
        least, most = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        if least <= value <= most:
            return np.array(int(value), dtype)
    raise ValueError(f"fill_value must be one of {dtype} (got {str(value)[:60]!r})")
