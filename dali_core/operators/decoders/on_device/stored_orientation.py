"""Exif orientations that decoders on a device read in another way than the host, or not at all."""

from __future__ import annotations

from dali_core.operators.decoders.on_device.segments import is_frame, jpeg_segments

_EXIF, _ORIENTATION, _SHORT = 0xE1, 0x0112, 3


def has_unusual_orientation(file: memoryview) -> bool:
    """Return whether a JPEG file has Exif data of which not every decoder finds the orientation.

    Usual is one segment in front of the frame header, with the orientation as one SHORT.

    Parameters
    ----------
    file : memoryview
        The bytes of the file.
    """
    found: list[bytes] = []
    has_frame = False
    for marker, segment in jpeg_segments(file):
        has_frame = has_frame or is_frame(marker)
        if marker == _EXIF and segment[:6] == b"Exif\0\0":
            if has_frame or found:
                return True
            found.append(segment[6:])
    return bool(found) and not _is_usual(found[0])


def _is_usual(tiff: bytes) -> bool:
    order = {b"II*\0": "little", b"MM\0*": "big"}.get(tiff[:4])
    if order is None:
        return False

    def number(at: int, size: int) -> int:
        return int.from_bytes(tiff[at : at + size], "little" if order == "little" else "big")

    first = number(4, 4) + 2
    entries = range(first, first + 12 * number(first - 2, 2), 12)
    if not entries or entries[-1] + 12 > len(tiff):
        return False
    values = [
        (number(entry + 2, 2), number(entry + 4, 4), number(entry + 8, 2))
        for entry in entries
        if number(entry, 2) == _ORIENTATION
    ]
    return not values or (len(values) == 1 and values[0][:2] == (_SHORT, 1))
