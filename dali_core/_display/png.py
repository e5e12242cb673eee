"""PNG files of small pictures, written with what Python has (ISO/IEC 15948)."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np

from dali_core._display.coloring import Image8


def thumbnail(image: Image8, side: int) -> Image8:
    """Reduce an image to at most `side` pixels, by the means of squares of pixels."""
    height, width = image.shape[:2]
    factor = -(-max(height, width) // side)
    if factor <= 1:
        return image
    rows, columns = max(1, height // factor), max(1, width // factor)
    # Of an image that is narrower than a square, its pixels are repeated.
    padded = np.resize(image, (max(height, factor), width, 3)) if height < factor else image
    if width < factor:
        padded = np.repeat(padded, factor, axis=1)[:, :factor]
    cut = padded[: rows * factor, : columns * factor]
    squares = cut.reshape(rows, factor, columns, factor, 3)
    means: Image8 = np.rint(squares.mean(axis=(1, 3))).astype(np.uint8)
    return means


def to_png(image: Image8) -> bytes:
    """Encode an image of shape (height, width, 3)."""
    height, width = image.shape[:2]
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # no filter, then the pixels
    rows[:, 1:] = image.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def png_url(image: Image8) -> str:
    """Return an image as a ``data:`` address."""
    return f"data:image/png;base64,{base64.b64encode(to_png(image)).decode()}"
