"""The colours in which a JPEG file stores its pixels, by its header."""

from __future__ import annotations

_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_ADOBE, _SCAN = 0xEE, 0xDA


def is_stored_as_rgb(file: memoryview) -> bool:
    """Return whether a file says that it stores red, green and blue, rather than YCbCr.

    Either Adobe's segment does (technical note 5116), or the names of the components.

    Parameters
    ----------
    file : memoryview
        The bytes of the file.
    """
    position, names = 2, b""
    while position + 4 <= len(file) and file[position] == 0xFF:
        marker = file[position + 1]
        if marker == 0xFF:  # a fill byte
            position += 1
            continue
        if marker == _SCAN:
            break
        end = position + 2 + int.from_bytes(file[position + 2 : position + 4], "big")
        segment = bytes(file[position + 4 : end])
        if marker == _ADOBE and segment[:5] == b"Adobe" and segment[11:12] == b"\0":
            return True
        if marker in _FRAMES:
            names = segment[6:15:3]
        position = max(end, position + 4)
    return names == b"RGB"
