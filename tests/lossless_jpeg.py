"""Writes lossless JPEG files: ITU-T T.81, annex H."""

from __future__ import annotations

import struct

import numpy as np

from tests.jpeg_writer import BitWriter, segment

_SIZES = range(16)  # of differences in bits: all codes have five, as no code may be all ones


def write_lossless_jpeg(
    image: np.ndarray, predictor: int = 1, precision: int = 8, identifiers: bytes = b""
) -> bytes:
    """Encode an image of shape (height, width, channels) with a predictor from 1 to 7."""
    height, width, channels = image.shape
    names = identifiers or (b"RGB" if channels == 3 else b"\1\2\3\4"[:channels])
    table = bytes([0, 0, 0, 0, 0, len(_SIZES), *[0] * 11, *_SIZES])
    components = b"".join(bytes([name, 0x11, 0]) for name in names)
    frame = struct.pack(">BHHB", precision, height, width, channels) + components
    selected = b"".join(bytes([name, 0]) for name in names)
    scan = bytes([channels]) + selected + bytes([predictor, 0, 0])
    writer = BitWriter()
    for difference in _differences(image.astype(np.int64), predictor, precision).ravel():
        size = int(abs(difference)).bit_length()
        writer.put(size, 5)
        writer.put_signed(int(difference), size)
    return b"".join(
        (
            b"\xff\xd8",
            segment(0xC4, table),
            segment(0xC3, frame),
            segment(0xDA, scan),
            writer.finish(),
            b"\xff\xd9",
        )
    )


def _differences(image: np.ndarray, predictor: int, precision: int) -> np.ndarray:
    left, above, corner = np.roll(image, 1, 1), np.roll(image, 1, 0), np.roll(image, (1, 1), (0, 1))
    predicted = {
        1: left,
        2: above,
        3: corner,
        4: left + above - corner,
        5: left + ((above - corner) >> 1),
        6: above + ((left - corner) >> 1),
        7: (left + above) >> 1,
    }[predictor].copy()
    predicted[0] = left[0]
    predicted[1:, 0] = above[1:, 0]
    predicted[0, 0] = 1 << (precision - 1)
    return image - predicted
