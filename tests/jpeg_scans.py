"""Writes progressive JPEG files whose scans are almost empty and still visit every block.

All pixels are grey. Reference: ITU-T Recommendation T.81 (1992), annex G: an end-of-band run of up
to 32,767 blocks takes 18 bits here, and so many blocks are visited for it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from tests.jpeg_writer import BitWriter, segment


@dataclass(frozen=True)
class FlatImage:
    """Extents and sampling factors, which determine the blocks that a scan visits."""

    height: int
    width: int
    sampling: Sequence[tuple[int, int]] = ((1, 1),)

    def blocks(self, component: int) -> int:
        """Return the number of blocks that a scan of a single component visits."""
        horizontal, vertical = self.sampling[component]
        most_horizontal, most_vertical = self._largest()
        return -(-self.height * vertical // (8 * most_vertical)) * -(
            -self.width * horizontal // (8 * most_horizontal)
        )

    def blocks_together(self) -> int:
        """Return the number of blocks that a scan of all components visits."""
        if len(self.sampling) == 1:
            return self.blocks(0)
        most_horizontal, most_vertical = self._largest()
        groups = -(-self.height // (8 * most_vertical)) * -(-self.width // (8 * most_horizontal))
        return groups * sum(horizontal * vertical for horizontal, vertical in self.sampling)

    def _largest(self) -> tuple[int, int]:
        return max(h for h, _ in self.sampling), max(v for _, v in self.sampling)


def scan_header(components: Sequence[int], first: int, last: int) -> bytes:
    """Make the segment that starts a scan of some components, of a band of coefficients."""
    parts = b"".join(bytes([component + 1, 0]) for component in components)
    return segment(0xDA, bytes([len(components)]) + parts + bytes([first, last, 0]))


def empty_scan(image: FlatImage, component: int) -> bytes:
    """Make a scan of all coefficients of a component but the first, which are all zero."""
    bits = BitWriter()
    left = image.blocks(component)
    while left:
        run = min(left, 32_767)
        bits.put(run.bit_length() - 1, 4)
        bits.put(run - (1 << run.bit_length() - 1), run.bit_length() - 1)
        left -= run
    return scan_header([component], 1, 63) + bits.finish()


def write_scans(image: FlatImage, components: Sequence[int], *, before: bytes = b"") -> bytes:
    """Make a file with a scan of the mean values, then an empty one for each entry.

    Parameters
    ----------
    image : FlatImage
        Extents and sampling factors.
    components : sequence of int
        The component of each further scan.
    before : bytes
        Bytes before each of these.
    """
    frame = struct.pack(">BHHB", 8, image.height, image.width, len(image.sampling))
    frame += b"".join(
        bytes([number + 1, horizontal << 4 | vertical, 0])
        for number, (horizontal, vertical) in enumerate(image.sampling)
    )
    # Differences of means are 0, a code of one bit. Codes of end-of-band runs have four.
    runs = bytes([length << 4 for length in range(15)])
    head = segment(0xDB, b"\0" + bytes([1] * 64)) + segment(0xC2, frame)
    head += segment(0xC4, b"\x00" + bytes([1] + [0] * 15) + b"\0")
    head += segment(0xC4, b"\x10" + bytes([0, 0, 0, 15] + [0] * 12) + runs)
    means = bytes(-(-image.blocks_together() // 8))
    scans = {number: empty_scan(image, number) for number in set(components)}
    return b"".join(
        [b"\xff\xd8", head, scan_header(range(len(image.sampling)), 0, 0), means]
        + [before + scans[number] for number in components]
        + [b"\xff\xd9"]
    )
