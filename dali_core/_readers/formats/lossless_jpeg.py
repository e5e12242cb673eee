"""Lossless JPEG of up to 16 bits with the first predictor: ITU-T T.81, annex H.

Libraries with a free licence decode 8 bits only, and archives of hospitals are full of 12 and 16. A
sample takes half a microsecond, since Python decodes the codes one after the other.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FRAME, _TABLES, _SCAN, _RESTARTS = 0xC3, 0xC4, 0xDA, 0xDD

Codes = list[tuple[int, int] | None]
"""For each 16 bits, length and symbol of the code that they begin with."""


def decode_lossless(data: bytes, rows: int, columns: int) -> NDArray[np.uint16]:
    """Decode an image of one component, of (rows, columns).

    Raises
    ------
    ValueError
        If it is none of these extents, or has another predictor, or restarts.
    """
    precision = 0
    tables: dict[int, Codes] = {}
    place = 2
    while True:
        if data[place : place + 1] != b"\xff" or place + 4 > len(data):
            raise ValueError("lossless JPEG must have a scan")
        mark = data[place + 1]
        if mark == 0xFF:
            place += 1
            continue
        segment = data[place + 4 : place + 2 + int.from_bytes(data[place + 2 : place + 4], "big")]
        place += 4 + len(segment)
        if mark == _FRAME:
            precision = _check_frame(segment, rows, columns)
        elif mark == _TABLES:
            tables.update(_tables(segment))
        elif mark == _RESTARTS and any(segment):
            raise ValueError("lossless JPEG must have no restarts")
        elif mark == _SCAN:
            break
    if not precision or len(segment) != 6 or segment[0] != 1 or segment[3] != 1:
        raise ValueError("lossless JPEG must have a frame, and a scan of the first predictor")
    codes, shift = tables.get(segment[2] >> 4), segment[5] & 15
    if codes is None or shift >= precision:
        raise ValueError("lossless JPEG must have the codes of its scan")
    end = re.compile(rb"\xff[^\0]").search(data, place)
    packed = data[place : end.start() if end else len(data)].replace(b"\xff\0", b"\xff")
    found = np.array(_differences(packed, codes, rows * columns), np.int64).reshape(rows, columns)
    # The first column is predicted by what is above, all others by what is before.
    found[0, 0] += 1 << (precision - shift - 1)
    found[:, 0] = found[:, 0].cumsum()
    values: NDArray[np.uint16] = ((found.cumsum(axis=1) << shift) & 0xFFFF).astype(np.uint16)
    return values


def _check_frame(segment: bytes, rows: int, columns: int) -> int:
    """Return how many bits samples have."""
    extents = int.from_bytes(segment[1:3], "big"), int.from_bytes(segment[3:5], "big")
    if len(segment) != 9 or segment[5] != 1 or extents != (rows, columns):
        raise ValueError(
            f"lossless JPEG must have one component of {rows} rows and {columns} columns"
        )
    if not 2 <= segment[0] <= 16:
        raise ValueError(f"lossless JPEG must have 2 to 16 bits (it has {segment[0]})")
    return segment[0]


def _tables(segment: bytes) -> dict[int, Codes]:
    """Read the tables of a segment by their numbers."""
    found: dict[int, Codes] = {}
    place = 0
    while place < len(segment):
        number, counts = segment[place], segment[place + 1 : place + 17]
        symbols = segment[place + 17 : place + 17 + sum(counts)]
        if number > 3 or len(counts) != 16 or len(symbols) != sum(counts):
            raise ValueError("tables of lossless JPEG must have all their codes")
        # Before memory is allocated: codes of all lengths fill 16 bits at most.
        if sum(count << (16 - length) for length, count in enumerate(counts, 1)) > 1 << 16:
            raise ValueError("tables of lossless JPEG must have codes of at most 16 bits")
        codes: Codes = []
        rest = iter(symbols)
        for length, count in enumerate(counts, 1):
            for _ in range(count):
                codes += [(length, next(rest))] * (1 << (16 - length))
        if max(symbols, default=0) > 16:
            raise ValueError("tables of lossless JPEG must have symbols of at most 16")
        found[number] = codes + [None] * ((1 << 16) - len(codes))
        place += 17 + len(symbols)
    return found


def _differences(data: bytes, codes: Codes, count: int) -> list[int]:
    """Decode so many differences."""
    found: list[int] = []
    most = len(data) + 8  # what is behind the data is read as zeros
    buffer = num_bits = place = 0
    while len(found) < count:
        if num_bits < 32:
            if place > most:
                raise ValueError(f"lossless JPEG must have {count} samples (it has {len(found)})")
            word = data[place : place + 8]
            buffer = (buffer << 64) | int.from_bytes(word.ljust(8, b"\0"), "big")
            num_bits += 64
            place += 8
        code: Any = codes[(buffer >> (num_bits - 16)) & 0xFFFF]
        if code is None:
            raise ValueError("lossless JPEG must have codes that are in its table")
        length, size = code
        num_bits -= length
        value = 0
        if size == 16:
            value = 32768
        elif size:
            num_bits -= size
            value = (buffer >> num_bits) & ((1 << size) - 1)
            if value >> (size - 1) == 0:
                value -= (1 << size) - 1
        buffer &= (1 << num_bits) - 1
        found.append(value)
    if 8 * place - num_bits > 8 * len(data):
        raise ValueError(f"lossless JPEG must have {count} samples (it has fewer)")
    return found
