"""Creates the images and image files that tests decode: every format, sampling and damage."""

from __future__ import annotations

import functools
import io
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.jpeg_writer import write_jpeg

SAMPLINGS = {
    "444": [(1, 1), (1, 1), (1, 1)],
    "422": [(2, 1), (1, 1), (1, 1)],
    "420": [(2, 2), (1, 1), (1, 1)],
    "440": [(1, 2), (1, 1), (1, 1)],
    "411": [(4, 1), (1, 1), (1, 1)],
    "410": [(4, 2), (1, 1), (1, 1)],
    "441": [(1, 4), (1, 1), (1, 1)],
    "mixed": [(2, 2), (2, 1), (1, 2)],
}
"""Sampling factors of Y, Cb and Cr by the name of the subsampling."""


def photo_like(height: int, width: int, channels: int = 3, seed: int = 0) -> np.ndarray:
    """Make a (height, width, channels) uint8 image with the spectrum of a photo, and some edges."""
    generator = np.random.default_rng([seed, height, width, channels])
    image = np.zeros((height, width, channels))
    cell = max(height, width)
    while cell >= 1:
        grid = generator.normal(size=(height // cell + 2, width // cell + 2, channels))
        y, x = np.arange(height) / cell, np.arange(width) / cell
        top, left = y.astype(int), x.astype(int)
        down, right = (y - top)[:, None, None], (x - left)[None, :, None]
        rows = grid[top] * (1 - down) + grid[top + 1] * down
        image += (rows[:, left] * (1 - right) + rows[:, left + 1] * right) * cell**0.7
        cell //= 2
    image = (image - image.mean()) / (image.std() + 1e-9) * 55 + 128
    shifted = image + 60 * ((np.mgrid[0:height, 0:width][1] // 17) % 2)[..., None]
    image[height // 3 : height // 2] = shifted[height // 3 : height // 2]
    return np.clip(np.rint(image), 0, 255).astype(np.uint8)


def encode(image: np.ndarray, file_format: str, mode: str | None = None, **options: Any) -> bytes:
    """Encode an image with Pillow, converted to a Pillow mode first if one is given."""
    pillow = pytest.importorskip("PIL.Image", reason="not available: Pillow")
    squeezed = image[..., 0] if image.ndim == 3 and image.shape[2] == 1 else image
    picture = pillow.fromarray(squeezed)
    if mode is not None:
        picture = picture.convert(mode)
    buffer = io.BytesIO()
    picture.save(buffer, file_format, **options)
    return buffer.getvalue()


def bmp(image: np.ndarray) -> bytes:
    """Encode a (height, width, 3) uint8 image as BMP."""
    height, width, _ = image.shape
    rows = np.pad(image[::-1, :, ::-1].reshape(height, -1), ((0, 0), (0, -3 * width % 4)))
    information = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, rows.size, 0, 0, 0, 0)
    return struct.pack("<2sIII", b"BM", 54 + rows.size, 0, 54) + information + rows.tobytes()


def jpeg(
    image: np.ndarray, quality: int = 90, subsampling: int = 2, *, progressive: bool = False
) -> bytes:
    """Encode as JPEG with Pillow; subsampling 0 is 4:4:4, 1 is 4:2:2, 2 is 4:2:0."""
    return encode(image, "JPEG", quality=quality, subsampling=subsampling, progressive=progressive)


@functools.cache
def sampled_jpeg(height: int, width: int, sampling: str, seed: int = 0, **options: Any) -> bytes:
    """Make a colour JPEG with one of `SAMPLINGS`; the options are those of `write_jpeg`."""
    planes = photo_like(height, width, 3, seed)
    return write_jpeg(list(np.moveaxis(planes, 2, 0)), SAMPLINGS[sampling], **options)


@functools.cache
def cmyk_jpeg(
    height: int, width: int, seed: int = 0, *, transform: int | None = 0, subsampled: bool = False
) -> bytes:
    """Make a four-component JPEG: CMYK (transform 0 or None) or YCCK (transform 2)."""
    planes = list(np.moveaxis(photo_like(height, width, 4, seed), 2, 0))
    sampling = [(2, 2), (1, 1), (1, 1), (2, 2)] if subsampled else [(1, 1)] * 4
    return write_jpeg(planes, sampling, adobe_transform=transform)


def exif(
    orientation: int = 6,
    *,
    kind: int = 3,
    count: int = 1,
    byte_order: str = "<",
    others: tuple[int, int] = (0, 0),
    gap: int = 0,
) -> bytes:
    """Make Exif data with an orientation as `count` values of a type of TIFF.

    `others` are entries in front of it and behind it, `gap` bytes in front of the directory.
    """
    code = {1: "B", 3: "H", 4: "I", 6: "b", 8: "h", 9: "i", 11: "f", 12: "d", 13: "I", 16: "Q"}
    form = {2: "B", 5: "II", 7: "B", 10: "ii"}.get(kind) or code[kind]
    value = struct.pack(byte_order + form, *(orientation, 1)[: len(form)]) * count
    before, after = others
    place = 8 + gap
    outside = place + 2 + 12 * (before + 1 + after) + 4

    def entry(tag: int, kind: int, count: int, value: bytes) -> bytes:
        inside = value if len(value) <= 4 else struct.pack(byte_order + "I", outside)
        return struct.pack(byte_order + "HHI", tag, kind, count) + inside.ljust(4, b"\0")

    short = struct.pack(byte_order + "H", 1)
    entries = [entry(0x0100 + i, 3, 1, short) for i in range(before)]
    entries.append(entry(0x0112, kind, count, value))
    entries += [entry(0x8000 + i, 3, 1, short) for i in range(after)]
    head = (b"II" if byte_order == "<" else b"MM") + struct.pack(byte_order + "HI", 42, place)
    directory = struct.pack(byte_order + "H", len(entries)) + b"".join(entries) + bytes(4)
    return head + bytes(gap) + directory + (value if len(value) > 4 else b"")


def with_segment(jpeg_file: bytes, marker: int, payload: bytes, before: int = 0) -> bytes:
    """Insert a segment at the start of a JPEG file, or before the first segment of a marker."""
    place = jpeg_file.index(bytes([0xFF, before])) if before else 2
    segment = struct.pack(">BBH", 0xFF, marker, len(payload) + 2) + payload
    return jpeg_file[:place] + segment + jpeg_file[place:]


def with_orientation(jpeg_file: bytes, orientation: int, byte_order: str = "<") -> bytes:
    """Insert an Exif segment with an orientation (1 to 8) into a JPEG file."""
    payload = b"Exif\0\0" + exif(orientation, byte_order=byte_order)
    return with_segment(jpeg_file, 0xE1, payload)


def with_png_chunk(png_file: bytes, name: bytes, content: bytes, before: bytes) -> bytes:
    """Insert a chunk into a PNG file."""
    place = png_file.index(before) - 4
    checksum = struct.pack(">I", zlib.crc32(name + content))
    chunk = struct.pack(">I", len(content)) + name + content + checksum
    return png_file[:place] + chunk + png_file[place:]


def orient(image: np.ndarray, orientation: int) -> np.ndarray:
    """Rotate a stored image according to the Exif orientation."""
    turned = {
        1: image,
        2: image[:, ::-1],
        3: image[::-1, ::-1],
        4: image[::-1],
        5: image.swapaxes(0, 1),
        6: image.swapaxes(0, 1)[:, ::-1],
        7: image.swapaxes(0, 1)[::-1, ::-1],
        8: image.swapaxes(0, 1)[::-1],
    }
    return np.ascontiguousarray(turned[orientation])


def png(image: np.ndarray) -> bytes:
    """Encode a uint8 or uint16 image with 1 to 4 channels as PNG."""
    height, width, channels = image.shape
    colour_type = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    pixels = image.astype(image.dtype.newbyteorder(">")).reshape(height, -1)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, image.itemsize * 8, colour_type, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )


def pnm(image: np.ndarray) -> bytes:
    """Encode a uint8 or uint16 image with 1 or 3 channels as binary PGM or PPM."""
    height, width, channels = image.shape
    kind = {1: "P5", 3: "P6"}[channels]
    header = f"{kind}\n{width} {height}\n{np.iinfo(image.dtype).max}\n".encode()
    return header + image.astype(image.dtype.newbyteorder(">")).tobytes()


def truncated(file: bytes, fraction: float) -> bytes:
    """Keep the first part of a file."""
    return file[: int(len(file) * fraction)]


def mutated(file: bytes, seed: int, count: int = 3, first: int = 0) -> bytes:
    """Change some bytes at or after position `first`."""
    generator = np.random.default_rng(seed)
    result = bytearray(file)
    for position in generator.integers(first, len(file), count):
        result[position] ^= int(generator.integers(1, 256))
    return bytes(result)


def with_jpeg_size(jpeg_file: bytes, height: int, width: int) -> bytes:
    """Overwrite the dimensions in the frame header of a JPEG file."""
    result = bytearray(jpeg_file)
    position = 2
    while result[position + 1] not in (0xC0, 0xC1, 0xC2):
        position += 2 + struct.unpack_from(">H", result, position + 2)[0]
    struct.pack_into(">HH", result, position + 5, height, width)
    return bytes(result)


def without_segments(jpeg_file: bytes, marker: int) -> bytes:
    """Remove the segments with a marker, such as 0xC4, from the header of a JPEG file."""
    kept = jpeg_file[:2]
    position = 2
    while jpeg_file[position + 1] != 0xDA:
        end = position + 2 + struct.unpack_from(">H", jpeg_file, position + 2)[0]
        if jpeg_file[position + 1] != marker:
            kept += jpeg_file[position:end]
        position = end
    return kept + jpeg_file[position:]


def without_last_scans(jpeg_file: bytes, count: int) -> bytes:
    """Remove the last scans of a progressive JPEG file, with their tables."""
    return jpeg_file.rsplit(b"\xff\xda", count)[0] + b"\xff\xd9"


def grid_of_sizes(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Pair every height with every width."""
    return [(height, width) for height in sizes for width in sizes]
