"""The colours in which a JPEG file stores its pixels, by its header."""

from __future__ import annotations

from dali_core.operators.decoders.on_device.segments import is_frame, jpeg_segments

_ADOBE = 0xEE


def is_stored_as_rgb(file: memoryview) -> bool:
    """Return whether a file says that it stores red, green and blue, rather than YCbCr.

    Either Adobe's segment does (technical note 5116), or the names of the components.

    Parameters
    ----------
    file : memoryview
        The bytes of the file.
    """
    names = b""
    for marker, segment in jpeg_segments(file):
        if marker == _ADOBE and segment[:5] == b"Adobe" and segment[11:12] == b"\0":
            return True
        if is_frame(marker):
            names = segment[6:15:3]
    return names == b"RGB"
