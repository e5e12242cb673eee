"""The segments of a JPEG file in front of its first scan."""

from __future__ import annotations

from collections.abc import Iterator

_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_SCAN = 0xDA


def is_frame(marker: int) -> bool:
    """Return whether a marker is that of a frame header."""
    return marker in _FRAMES


def jpeg_segments(file: memoryview) -> Iterator[tuple[int, bytes]]:
    """Yield the marker and the content of each segment.

    Parameters
    ----------
    file : memoryview
        The bytes of the file.
    """
    position = 2
    while position + 4 <= len(file) and file[position] == 0xFF:
        marker = file[position + 1]
        if marker == 0xFF:  # a fill byte
            position += 1
            continue
        if marker == _SCAN:
            break
        end = position + 2 + int.from_bytes(file[position + 2 : position + 4], "big")
        yield marker, bytes(file[position + 4 : end])
        position = max(end, position + 4)
