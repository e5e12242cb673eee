"""Writes the scans of progressive JPEG files by any script: bands of coefficients, bit by bit.

Reference: ITU-T Recommendation T.81 (1992), annex G.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tests.jpeg_writer import AC_CODE, BitWriter, Component, blocks_of_scan, segment, write_jpeg

_LONGEST_RUN = 32_767


@dataclass(frozen=True)
class Scan:
    """A scan: components by index, a band, and the lowest bits before (0 for none) and after."""

    components: tuple[int, ...]
    first: int
    last: int
    higher: int
    lowest: int


class _BandWriter:
    """Writes a band of blocks of one component; blocks without any more of it are counted."""

    def __init__(self, scan: Scan, bits: BitWriter) -> None:
        self._scan = scan
        self._bits = bits
        self._run = 0
        self._corrections: list[int] = []  # of the blocks in the run

    def write(self, block: np.ndarray) -> None:
        values = [int(value) for value in block[self._scan.first : self._scan.last + 1]]
        if self._scan.higher:
            self._refine(values)
        else:
            self._start(values)
        if self._run == _LONGEST_RUN:
            self.end_run()

    def end_run(self) -> None:
        if self._run:
            size = self._run.bit_length() - 1
            self._bits.put(AC_CODE[size << 4], 8)
            self._bits.put(self._run - (1 << size), size)
        self._put_all(self._corrections)
        self._run = 0
        self._corrections = []

    def _put_all(self, corrections: Sequence[int]) -> None:
        for bit in corrections:
            self._bits.put(bit, 1)

    def _start(self, values: Sequence[int]) -> None:
        zeros = 0
        for value in values:
            size = (abs(value) >> self._scan.lowest).bit_length()
            if size == 0:
                zeros += 1
                continue
            self.end_run()
            while zeros > 15:
                self._bits.put(AC_CODE[0xF0], 8)
                zeros -= 16
            self._bits.put(AC_CODE[zeros << 4 | size], 8)
            magnitude = abs(value) >> self._scan.lowest
            self._bits.put_signed(magnitude if value > 0 else -magnitude, size)
            zeros = 0
        if zeros:
            self._run += 1

    def _refine(self, values: Sequence[int]) -> None:
        magnitudes = [abs(value) >> self._scan.lowest for value in values]
        last_new = max((k for k, value in enumerate(magnitudes) if value == 1), default=-1)
        zeros = 0
        corrections: list[int] = []
        for k, magnitude in enumerate(magnitudes):
            if magnitude == 0:
                zeros += 1
                continue
            while zeros > 15 and k <= last_new:
                self.end_run()
                self._bits.put(AC_CODE[0xF0], 8)
                self._put_all(corrections)
                corrections = []
                zeros -= 16
            if magnitude > 1:
                corrections.append(magnitude & 1)
                continue
            self.end_run()
            self._bits.put(AC_CODE[zeros << 4 | 1], 8)
            self._bits.put(int(values[k] > 0), 1)
            self._put_all(corrections)
            corrections = []
            zeros = 0
        if zeros or corrections:
            self._run += 1
            self._corrections += corrections


def _write_mean(bits: BitWriter, scan: Scan, mean: int, previous: int) -> int:
    value = mean >> scan.lowest
    if scan.higher:
        bits.put(value & 1, 1)
    else:
        size = abs(value - previous).bit_length()
        bits.put(size, 4)
        bits.put_signed(value - previous, size)
    return value


def write_scan(
    parts: Sequence[Component], mcu_rows: int, mcu_columns: int, scan: Scan, restart_interval: int
) -> bytes:
    """Write one scan of a file."""
    chosen = [parts[index] for index in scan.components]
    payload = bytes([len(chosen)]) + b"".join(bytes([part.identifier, 0]) for part in chosen)
    payload += bytes([scan.first, scan.last, scan.higher << 4 | scan.lowest])
    result = bytearray(segment(0xDA, payload))
    bits = BitWriter()
    band = _BandWriter(scan, bits)
    previous = [0] * len(chosen)
    for count, mcu in enumerate(blocks_of_scan(chosen, mcu_rows, mcu_columns)):
        if restart_interval and count and count % restart_interval == 0:
            band.end_run()
            result += bits.finish() + bytes([0xFF, 0xD0 + (count // restart_interval - 1) % 8])
            previous = [0] * len(chosen)
        for index, block in mcu:
            if scan.first:
                band.write(block)
            else:
                previous[index] = _write_mean(bits, scan, int(block[0]), previous[index])
    band.end_run()
    return bytes(result + bits.finish())


def random_script(num_components: int, draw: np.random.Generator) -> list[Scan]:
    """Draw a complete script: any bands, any number of bits in the first scan of each."""
    lanes: list[list[Scan]] = []  # scans that follow one another
    everything = tuple(range(num_components))
    split = int(draw.integers(1, num_components + 1))
    for components in (everything[:split], everything[split:]):
        low = int(draw.integers(4))
        means = [Scan(components, 0, 0, 0, low)]
        means += [Scan(components, 0, 0, bit + 1, bit) for bit in reversed(range(low))]
        if components:
            lanes.append(means)
    starts = len(lanes)
    for component in everything:
        ends = sorted({int(end) for end in draw.integers(1, 64, int(draw.integers(3)))} | {63})
        for first, last in zip([1, *(end + 1 for end in ends)], ends, strict=False):
            low = int(draw.integers(4))
            band = [Scan((component,), first, last, 0, low)]
            lanes.append(
                band
                + [Scan((component,), first, last, bit + 1, bit) for bit in reversed(range(low))]
            )
    script = [lane.pop(0) for lane in lanes[:starts]]
    while lanes := [lane for lane in lanes if lane]:
        script.append(lanes[int(draw.integers(len(lanes)))].pop(0))
    return script


def write_progressive(
    planes: Sequence[np.ndarray],
    sampling: Sequence[tuple[int, int]],
    script: Sequence[Scan],
    *,
    step: int = 6,
    restart_interval: int = 0,
    adobe_transform: int | None = None,
) -> bytes:
    """Encode full-size uint8 component planes as a progressive JPEG file, by a script."""
    return write_jpeg(
        planes,
        sampling,
        step=step,
        restart_interval=restart_interval,
        adobe_transform=adobe_transform,
        write_scans=lambda parts, rows, columns: b"".join(
            write_scan(parts, rows, columns, scan, restart_interval) for scan in script
        ),
    )
