"""Values of the columns of MDS shards, as arrays."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Decode = Callable[[memoryview], Any]

_SCALARS = {
    "int": "<i8",
    **{
        name: np.dtype(name).newbyteorder("<").str
        for name in (
            "uint8",
            "uint16",
            "uint32",
            "uint64",
            "int8",
            "int16",
            "int32",
            "int64",
            "float16",
            "float32",
            "float64",
        )
    },
}
_ARRAY_TYPES = {
    8: "uint8",
    9: "int8",
    16: "uint16",
    17: "int16",
    18: "float16",
    32: "uint32",
    33: "int32",
    34: "float32",
    64: "uint64",
    65: "int64",
    66: "float64",
}
# Of an image of Pillow: the type of its elements, and how many a pixel has.
_MODES = {
    "L": ("u1", 1),
    "P": ("u1", 1),
    "LA": ("u1", 2),
    "PA": ("u1", 2),
    "RGB": ("u1", 3),
    "HSV": ("u1", 3),
    "YCbCr": ("u1", 3),
    "LAB": ("u1", 3),
    "RGBA": ("u1", 4),
    "RGBa": ("u1", 4),
    "RGBX": ("u1", 4),
    "CMYK": ("u1", 4),
    "I;16": ("<u2", 1),
    "I;16L": ("<u2", 1),
    "I;16B": (">u2", 1),
    "I": ("<i4", 1),
    "F": ("<f4", 1),
}
_ITEM = re.compile(r"(.+)\[(-?[0-9]{1,9})\]", re.DOTALL)


def decoder_of(encoding: str, item: int | None = None) -> Decode:
    """Return what makes an array of a value.

    Parameters
    ----------
    encoding : str
        The encoding of the column.
    item : int, optional
        Which item to take, of encodings of lists.

    Raises
    ------
    ValueError
        If the encoding is unknown, or cannot be read so.
    """
    kind, _, details = encoding.partition(":")
    items = re.fullmatch(r"list\[(jpeg|png|pil)\]|jpeg_?array", kind)
    if items is not None:
        return _list_decoder(kind, items[1] or "jpeg", item)
    if item is not None:
        raise ValueError(f"values of encoding {encoding!r} have no items")
    if kind in ("bytes", "str", "jpeg", "png", "json"):
        return _bytes
    if kind in _SCALARS:
        return partial(_scalar, np.dtype(_SCALARS[kind]))
    if kind == "ndarray":
        return _array_decoder(details)
    if kind == "pil":
        return _image
    if kind in ("str_int", "str_float", "str_decimal"):
        return _integer_text if kind == "str_int" else _number_text
    if kind == "pkl":
        raise ValueError("values of encoding 'pkl' are programs, which are never run")
    raise ValueError(f"there is no encoding {encoding[:40]!r}")


def split_item(column: str) -> tuple[str, int | None]:
    """Return the name of a column, and which item of a list is meant."""
    match = _ITEM.fullmatch(column)
    return (column, None) if match is None else (match[1], int(match[2]))


def _bytes(data: memoryview) -> NDArray[np.uint8]:
    return np.frombuffer(data, np.uint8)


def _scalar(dtype: np.dtype[Any], data: memoryview) -> Any:
    if len(data) != dtype.itemsize:
        raise ValueError(f"a {dtype.name} must have {dtype.itemsize} bytes (it has {len(data)})")
    return np.frombuffer(data, dtype)[0]


def _integer_text(data: memoryview) -> Any:
    number = int(bytes(data).decode())
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"an integer must have 64 bits (it has {number.bit_length()})")
    return np.int64(number)


def _number_text(data: memoryview) -> Any:
    return np.float64(float(bytes(data).decode()))


def _array_decoder(details: str) -> Decode:
    name, _, extents = details.partition(":")
    if name and name not in _ARRAY_TYPES.values():
        raise ValueError(f"arrays must not be of type {name[:40]!r}")
    shape = tuple(map(int, extents.split(","))) if extents else None
    return partial(_array, np.dtype(name) if name else None, shape)


def _array(dtype: np.dtype[Any] | None, shape: tuple[int, ...] | None, data: memoryview) -> Any:
    place = 0
    if dtype is None:
        if not data or data[0] not in _ARRAY_TYPES:
            raise ValueError("an array must begin with the number of its type")
        dtype, place = np.dtype(_ARRAY_TYPES[data[0]]), 1
    if shape is None:
        if len(data) <= place:
            raise ValueError("an array must have a shape")
        num_dimensions, log_size = divmod(data[place], 4)
        extents = data[place + 1 : place + 1 + (num_dimensions << log_size)]
        shape = tuple(np.frombuffer(extents, f"<u{1 << log_size}").tolist())
        place += 1 + (num_dimensions << log_size)
        if len(shape) != num_dimensions or num_dimensions > 32:
            raise ValueError("an array must have a shape of at most 32 dimensions")
    values = np.frombuffer(data[place:], dtype.newbyteorder("<"))
    if math.prod(shape) != len(values):
        raise ValueError(f"an array of shape {shape} must have as many elements ({len(values)})")
    return values.reshape(shape)


def _image(data: memoryview) -> NDArray[Any]:
    if len(data) < 12:
        raise ValueError("an image must have a header")
    width, height, length = np.frombuffer(data[:12], "<u4").tolist()
    mode, pixels = bytes(data[12 : 12 + length]).decode(), data[12 + length :]
    if mode == "1":
        rows = np.frombuffer(pixels, np.uint8).reshape(height, -(-width // 8))
        return np.unpackbits(rows, axis=1, count=width).astype(bool)
    if mode not in _MODES:
        raise ValueError(f"images of mode {mode[:20]!r} cannot be arrays")
    kind, channels = _MODES[mode]
    values = np.frombuffer(pixels, kind)
    return values.reshape((height, width, channels) if channels > 1 else (height, width))


def _list_decoder(kind: str, inner: str, item: int | None) -> Decode:
    if item is None and inner != "pil":
        raise ValueError(
            f"values of encoding {kind!r} have several items, of which one must be chosen, such "
            "as 'name[0]'"
        )
    return partial(_items, 4 if kind.startswith("list") else 0, decoder_of(inner), item)


def _items(start: int, decode: Decode, item: int | None, data: memoryview) -> Any:
    if len(data) < start + 4:
        raise ValueError("a list must have a header")
    (count,) = np.frombuffer(data, "<u4", 1, start).tolist()
    first = start + 4 + 4 * count
    if first > len(data):
        raise ValueError(f"a list of {count} items must have their sizes")
    ends = [first, *(first + np.cumsum(np.frombuffer(data, "<u4", count, start + 4), dtype="i8"))]
    if ends[-1] != len(data):
        raise ValueError("a list must have the bytes of its items")
    if item is None:
        return np.stack([decode(data[ends[n] : ends[n + 1]]) for n in range(count)])
    if not -count <= item < count:
        raise ValueError(f"there is no item {item} of {count}")
    return decode(data[ends[item % count] : ends[item % count + 1]])
