"""DICOM files that are written without a library."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

IMPLICIT, EXPLICIT = "1.2.840.10008.1.2", "1.2.840.10008.1.2.1"
SECRET = "SECRET^NAME"  # of the patient

_KINDS = {0x0028: b"US", 0x0020: b"DS", 0x0018: b"DS"}
_OTHERS = {
    (0x0010, 0x0010): b"PN",
    (0x0020, 0x000E): b"UI",
    (0x0020, 0x0013): b"IS",
    (0x0028, 0x0004): b"CS",
    (0x0028, 0x0008): b"IS",
    (0x0028, 0x0030): b"DS",
    (0x0028, 0x1052): b"DS",
    (0x0028, 0x1053): b"DS",
}


def element(tag: tuple[int, int], value: Any, explicit: bool = True) -> bytes:
    """Return an element, whose value is a text, a number of 16 bits, or a list of numbers."""
    kind = _OTHERS.get(tag) or _KINDS.get(tag[0], b"UI")
    if kind == b"US":
        data = struct.pack("<H", value)
    else:
        values = value if isinstance(value, (list, tuple)) else [value]
        data = "\\".join(map(str, values)).encode()
    data += b"" if len(data) % 2 == 0 else b"\0" if kind == b"UI" else b" "
    length = kind + struct.pack("<H", len(data)) if explicit else struct.pack("<I", len(data))
    return struct.pack("<HH", *tag) + length + data


def item(data: bytes, tag: tuple[int, int] = (0xFFFE, 0xE000)) -> bytes:
    """Return an item of a sequence, or of encapsulated pixels."""
    return struct.pack("<HHI", *tag, len(data)) + data


END = item(b"", (0xFFFE, 0xE0DD))


def encapsulated(fragments: Sequence[bytes], table: Sequence[int] = ()) -> bytes:
    """Return pixels in fragments."""
    padded = [one + bytes(len(one) % 2) for one in fragments]
    offsets = item(struct.pack(f"<{len(table)}I", *table))
    return offsets + b"".join(map(item, padded)) + END


def dicom(
    pixels: np.ndarray | bytes,
    syntax: str = EXPLICIT,
    shape: Sequence[int] = (),
    changes: dict[tuple[int, int], Any] | None = None,
    extra: bytes = b"",
) -> bytes:
    """Return a file with pixels of (rows, columns), with the shape in front or as it is given.

    ``changes`` replaces elements, or leaves them out where it has None. ``extra`` is put before the
    pixels as it is.
    """
    explicit = syntax != IMPLICIT
    dtype = pixels.dtype if isinstance(pixels, np.ndarray) else np.dtype("u1")
    rows, columns = shape or pixels.shape[-2:]  # type: ignore[union-attr]
    bits = 8 * dtype.itemsize
    elements: dict[tuple[int, int], Any] = {
        (0x0010, 0x0010): SECRET,
        (0x0020, 0x000E): "1.2.3",
        (0x0028, 0x0002): 1,
        (0x0028, 0x0004): "MONOCHROME2",
        (0x0028, 0x0010): rows,
        (0x0028, 0x0011): columns,
        (0x0028, 0x0100): bits,
        (0x0028, 0x0101): bits,
        (0x0028, 0x0102): bits - 1,
        (0x0028, 0x0103): int(dtype.kind == "i"),
        **(changes or {}),
    }
    head = element((0x0002, 0x0010), syntax)
    body = b"".join(
        element(tag, value, explicit)
        for tag, value in sorted(elements.items())
        if value is not None
    )
    data = pixels.tobytes() if isinstance(pixels, np.ndarray) else pixels
    length = len(data) if isinstance(pixels, np.ndarray) else 0xFFFFFFFF
    kind = b"OW\0\0" if explicit else b""
    pixel_element = struct.pack("<HH", 0x7FE0, 0x0010) + kind + struct.pack("<I", length) + data
    return bytes(128) + b"DICM" + head + body + extra + pixel_element


def placed(position: Sequence[float], number: int, **others: Any) -> dict[tuple[int, int], Any]:
    """Return the elements of a slice at a position, which is axial."""
    return {
        (0x0020, 0x0013): number,
        (0x0020, 0x0032): list(position),
        (0x0020, 0x0037): [1, 0, 0, 0, 1, 0],
        (0x0028, 0x0030): [0.5, 0.25],
        **others,
    }
