"""Writes JPEG files with any sampling factors, scan structure and colour model.

Pillow writes three subsamplings only; decoders meet many more. The entropy code is the simplest
valid one (all DC codes have 4 bits, all AC codes 8), so files are larger than usual.
Reference: ITU-T Recommendation T.81 (1992), annexes B, F and G.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

_ZIGZAG = sorted(
    ((y, x) for y in range(8) for x in range(8)),
    key=lambda at: (at[0] + at[1], at[0] if (at[0] + at[1]) % 2 else at[1]),
)
_ZIGZAG_INDEX = np.array([y * 8 + x for y, x in _ZIGZAG])
_DC_SYMBOLS = list(range(12))
AC_SYMBOLS = [0x00, 0xF0] + [run << 4 | size for run in range(16) for size in range(1, 11)]
# Those that end runs of blocks, in scans of a progressive file.
AC_SYMBOLS += [size << 4 for size in range(1, 15)]
AC_CODE = {symbol: code for code, symbol in enumerate(AC_SYMBOLS)}


def _cosine_basis() -> np.ndarray:
    frequency, position = np.mgrid[0:8, 0:8]
    basis = np.cos((2 * position + 1) * frequency * np.pi / 16) / 2
    basis[0] /= np.sqrt(2)
    return basis


class BitWriter:
    """Collects bits and stuffs a zero byte after each 0xFF, as entropy-coded segments need."""

    def __init__(self) -> None:
        self._value = 0
        self._count = 0
        self._bytes = bytearray()

    def put(self, value: int, count: int) -> None:
        """Append a number with the given number of bits."""
        self._value = self._value << count | value
        self._count += count
        while self._count >= 8:
            self._count -= 8
            byte = self._value >> self._count
            self._value &= (1 << self._count) - 1
            self._bytes.append(byte)
            if byte == 0xFF:
                self._bytes.append(0)

    def put_signed(self, value: int, size: int) -> None:
        """Append a coefficient with the given number of bits."""
        self.put(value if value >= 0 else value + (1 << size) - 1, size)

    def finish(self) -> bytes:
        """Return the bytes, the last one padded with ones, and start again."""
        if self._count:
            self.put((1 << 8 - self._count) - 1, 8 - self._count)
        result = bytes(self._bytes)
        self._bytes.clear()
        return result


@dataclass
class Component:
    """One colour component: its sampling factors and quantised blocks, in zigzag order."""

    identifier: int
    horizontal: int
    vertical: int
    blocks: np.ndarray  # (rows of blocks, columns of blocks, 64), padded to whole MCUs
    rows: int  # without the padding, which only interleaved scans contain
    columns: int


def segment(marker: int, payload: bytes) -> bytes:
    """Make a segment with a marker, such as 0xC4."""
    return struct.pack(">BBH", 0xFF, marker, len(payload) + 2) + payload


def _make_component(
    plane: np.ndarray,
    identifier: int,
    factors: tuple[int, int],
    largest: tuple[int, int],
    step: int,
) -> Component:
    height, width = plane.shape
    horizontal, vertical = factors
    sampled_height = -(-height * vertical // largest[1])
    sampled_width = -(-width * horizontal // largest[0])
    y = np.minimum(np.arange(sampled_height) * largest[1] // vertical, height - 1)
    x = np.minimum(np.arange(sampled_width) * largest[0] // horizontal, width - 1)
    sampled = plane[y][:, x].astype(np.float64) - 128
    mcu_rows = -(-height // (8 * largest[1]))
    mcu_columns = -(-width // (8 * largest[0]))
    rows, columns = mcu_rows * vertical, mcu_columns * horizontal
    padding = ((0, rows * 8 - sampled_height), (0, columns * 8 - sampled_width))
    tiles = np.pad(sampled, padding, mode="edge").reshape(rows, 8, columns, 8).swapaxes(1, 2)
    basis = _cosine_basis()
    coefficients = np.rint(basis @ tiles @ basis.T / step).astype(int)
    return Component(
        identifier,
        horizontal,
        vertical,
        np.clip(coefficients, -1023, 1023).reshape(rows, columns, 64)[..., _ZIGZAG_INDEX],
        -(-sampled_height // 8),
        -(-sampled_width // 8),
    )


def blocks_of_scan(
    components: Sequence[Component], mcu_rows: int, mcu_columns: int
) -> Iterable[list[tuple[int, np.ndarray]]]:
    """Return the blocks of each MCU of a scan, as (component, coefficients)."""
    if len(components) == 1:
        only = components[0]
        for row in range(only.rows):
            for column in range(only.columns):
                yield [(0, only.blocks[row, column])]
        return
    for row in range(mcu_rows):
        for column in range(mcu_columns):
            yield [
                (index, part.blocks[row * part.vertical + y, column * part.horizontal + x])
                for index, part in enumerate(components)
                for y in range(part.vertical)
                for x in range(part.horizontal)
            ]


def _write_block(bits: BitWriter, block: np.ndarray, previous: int, band: tuple[int, int]) -> int:
    first, last = band
    if first == 0:
        difference = int(block[0]) - previous
        previous = int(block[0])
        size = abs(difference).bit_length()
        bits.put(size, 4)
        bits.put_signed(difference, size)
    run = 0
    for index in range(max(first, 1), last + 1):
        value = int(block[index])
        if value == 0:
            run += 1
            continue
        while run > 15:
            bits.put(AC_CODE[0xF0], 8)
            run -= 16
        size = abs(value).bit_length()
        bits.put(AC_CODE[run << 4 | size], 8)
        bits.put_signed(value, size)
        run = 0
    if run and last:
        bits.put(AC_CODE[0], 8)
    return previous


def _scan(
    components: Sequence[Component],
    mcu_rows: int,
    mcu_columns: int,
    band: tuple[int, int],
    restart_interval: int,
) -> bytes:
    header = bytes([len(components)])
    header += b"".join(bytes([part.identifier, 0]) for part in components)
    result = bytearray(segment(0xDA, header + bytes([*band, 0])))
    bits = BitWriter()
    previous = [0] * len(components)
    for count, mcu in enumerate(blocks_of_scan(components, mcu_rows, mcu_columns)):
        if restart_interval and count and count % restart_interval == 0:
            result += bits.finish()
            result += bytes([0xFF, 0xD0 + (count // restart_interval - 1) % 8])
            previous = [0] * len(components)
        for index, block in mcu:
            previous[index] = _write_block(bits, block, previous[index], band)
    return bytes(result + bits.finish())


def write_jpeg(
    planes: Sequence[np.ndarray],
    sampling: Sequence[tuple[int, int]],
    *,
    step: int = 6,
    progressive: bool = False,
    interleaved: bool = True,
    restart_interval: int = 0,
    adobe_transform: int | None = None,
    write_scans: Callable[[Sequence[Component], int, int], bytes] | None = None,
) -> bytes:
    """Encode full-size uint8 component planes as a JPEG file.

    Parameters
    ----------
    planes : sequence of (height, width) uint8 arrays
        The components as they are stored: Y, Cb, Cr for the usual colour JPEG.
    sampling : sequence of (int, int)
        Horizontal and vertical sampling factor of each component.
    step : int
        Quantisation step of all coefficients.
    progressive : bool
        Write a DC scan and, for each component, AC scans of two bands.
    interleaved : bool
        Whether the DC scan, or the only scan, holds all components.
    restart_interval : int
        MCUs between restart markers; 0 writes none.
    adobe_transform : int, optional
        Write an Adobe segment with this colour transform (0 none, 1 YCbCr, 2 YCCK).
    write_scans : callable, optional
        Makes all scans of a progressive file, from the components and the numbers of rows and
        columns of MCUs.
    """
    height, width = planes[0].shape
    largest = (max(h for h, _ in sampling), max(v for _, v in sampling))
    parts = [
        _make_component(plane, index + 1, factors, largest, step)
        for index, (plane, factors) in enumerate(zip(planes, sampling, strict=True))
    ]
    mcus = (-(-height // (8 * largest[1])), -(-width // (8 * largest[0])))
    result = bytearray(b"\xff\xd8")
    if adobe_transform is not None:
        result += segment(0xEE, b"Adobe" + struct.pack(">HHHB", 100, 0, 0, adobe_transform))
    result += segment(0xDB, b"\0" + bytes([step] * 64))
    frame = struct.pack(">BHHB", 8, height, width, len(parts))
    frame += b"".join(
        bytes([part.identifier, part.horizontal << 4 | part.vertical, 0]) for part in parts
    )
    result += segment(0xC2 if progressive or write_scans else 0xC0, frame)
    result += segment(0xC4, b"\x00" + bytes([0, 0, 0, 12] + [0] * 12 + _DC_SYMBOLS))
    result += segment(0xC4, b"\x10" + bytes([0] * 7 + [len(AC_SYMBOLS)] + [0] * 8 + AC_SYMBOLS))
    if restart_interval:
        result += segment(0xDD, struct.pack(">H", restart_interval))
    if write_scans is not None:
        return bytes(result + write_scans(parts, *mcus) + b"\xff\xd9")
    groups = [parts] if interleaved else [[part] for part in parts]
    for group in groups:
        result += _scan(group, *mcus, (0, 0 if progressive else 63), restart_interval)
    if progressive:
        for band in ((1, 5), (6, 63)):
            for part in parts:
                result += _scan([part], *mcus, band, restart_interval)
    return bytes(result + b"\xff\xd9")
