"""Creates .npy files of all kinds, and damages them."""

from __future__ import annotations

import io
import random
import struct
from typing import Any

import numpy as np

TYPES = ("u1", "<u2", "<u4", "<u8", "i1", "<i2", "<i4", "<i8", "<f2", "<f4", "<f8", "?")
TYPES_SWAPPED = (">u2", ">i4", ">f8", ">f2", ">i8")


def npy(array: Any, version: tuple[int, int] | None = None) -> bytes:
    """Return the file that NumPy writes."""
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asanyarray(array), version)
    return file.getvalue()


def array_of(number: int) -> np.ndarray:
    """Return an array that depends only on a number: of any type, shape and order."""
    chance = random.Random(number)
    shape = [chance.choice((0, 1, 2, 3, 5, 8, 13)) for _ in range(chance.randrange(5))]
    dtype = np.dtype(chance.choice((*TYPES, *TYPES_SWAPPED)))
    count = int(np.prod(shape, dtype=np.int64))
    values = np.frombuffer(chance.randbytes(count), np.uint8).astype(dtype).reshape(shape)
    return np.asfortranarray(values) if chance.randrange(2) else values


def with_header(text: str, data: bytes = b"", version: int = 1) -> bytes:
    """Return a file with any text as its header."""
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode() + data


def mutated(content: bytes, number: int) -> bytes:
    """Damage a file in one of five ways."""
    chance = random.Random(number)
    data = bytearray(content)
    at = chance.randrange(min(len(data), 140))
    how = chance.randrange(5)
    if how == 0:
        return bytes(data[: chance.randrange(len(data))])
    if how == 1:
        for _ in range(chance.randrange(1, 9)):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif how == 2:
        data[at : at + 4] = chance.choice((b"\xff" * 4, b"9999", b"0000", b"))))", bytes(4)))
    elif how == 3:
        data[at:at] = chance.choice((b"9" * 20, b"(", b"'", b"{", b"-", b" " * 70000, b"1,"))
    else:
        data[at : at + chance.randrange(1, 20)] = b""
    return bytes(data)
