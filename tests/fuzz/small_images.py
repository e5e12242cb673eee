"""Small valid images of every supported format, and damage to them."""

from __future__ import annotations

import random
import zlib

import numpy as np

from tests.generated_images import (
    SAMPLINGS,
    cmyk_jpeg,
    encode,
    exif,
    jpeg,
    photo_like,
    png,
    pnm,
    sampled_jpeg,
    with_orientation,
    with_png_chunk,
    with_segment,
)
from tests.progressive_jpeg import random_script, write_progressive

_PHOTO = photo_like(18, 27)
_WITH_ALPHA = photo_like(18, 27, 4)
_TELLING_BYTES = (0, 1, 2, 8, 16, 64, 127, 128, 254, 255)


def _text_pnm(kind: str, maximum: str, samples: np.ndarray) -> bytes:
    numbers = " ".join(str(number) for number in samples.ravel())
    return f"{kind}\n{samples.shape[1]} {samples.shape[0]}\n{maximum}{numbers}\n".encode()


def jpegs() -> dict[str, bytes]:
    """Make JPEG files of all kinds."""
    files = {f"jpeg {name}": sampled_jpeg(18, 27, name) for name in SAMPLINGS}
    return files | {
        "jpeg photo": jpeg(_PHOTO),
        "jpeg progressive": jpeg(_PHOTO, progressive=True),
        "jpeg bit by bit": write_progressive(
            list(np.moveaxis(_PHOTO, 2, 0)),
            [(2, 2), (1, 1), (1, 1)],
            random_script(3, np.random.default_rng(4)),
            restart_interval=2,
        ),
        "jpeg restarts": sampled_jpeg(18, 27, "420", restart_interval=2),
        "jpeg scans": sampled_jpeg(18, 27, "420", interleaved=False),
        "jpeg grey": jpeg(_PHOTO[..., :1]),
        "jpeg turned": with_orientation(jpeg(_PHOTO), 6),
        "jpeg turned otherwise": with_segment(
            jpeg(_PHOTO), 0xE1, b"Exif\0\0" + exif(8, kind=5, count=2, byte_order=">", gap=9), 0xDA
        ),
        "jpeg cmyk": cmyk_jpeg(18, 27),
        "jpeg ycck": cmyk_jpeg(18, 27, transform=2, subsampled=True),
    }


def pngs() -> dict[str, bytes]:
    """Make PNG files of all kinds."""
    return {
        "png": png(_PHOTO),
        "png grey": png(_PHOTO[..., :1]),
        "png alpha": png(_WITH_ALPHA),
        "png grey alpha": png(_WITH_ALPHA[..., :2]),
        "png 16": png(_PHOTO.astype(np.uint16) * 257),
        "png turned": with_png_chunk(png(_PHOTO), b"eXIf", exif(kind=4), b"IDAT"),
        "png palette": encode(_PHOTO, "PNG", "P"),
        "png 1": encode(_PHOTO, "PNG", "1"),
    }


def others() -> dict[str, bytes]:
    """Make files of the formats that are neither JPEG nor PNG."""
    grey = _PHOTO[..., 0]
    return {
        "bmp": encode(_PHOTO, "BMP"),
        "bmp palette": encode(_PHOTO, "BMP", "P"),
        "bmp alpha": encode(_WITH_ALPHA, "BMP"),
        "bmp 1": encode(_PHOTO, "BMP", "1"),
        "tiff": encode(_PHOTO, "TIFF"),
        "tiff lzw": encode(_PHOTO, "TIFF", compression="tiff_lzw"),
        "tiff deflate": encode(_PHOTO, "TIFF", compression="tiff_adobe_deflate"),
        "tiff packbits": encode(_PHOTO, "TIFF", compression="packbits"),
        "tiff jpeg": encode(_PHOTO, "TIFF", compression="jpeg"),
        "tiff palette": encode(_PHOTO, "TIFF", "P"),
        "tiff 16": encode(grey.astype(np.uint16) * 250, "TIFF"),
        "tiff fax": encode(_PHOTO, "TIFF", "1", compression="group4"),
        "webp": encode(_PHOTO, "WEBP", quality=80),
        "webp lossless": encode(_PHOTO, "WEBP", lossless=True),
        "webp turned": encode(_PHOTO, "WEBP", exif=exif(kind=12)),
        "webp alpha": encode(_WITH_ALPHA, "WEBP", quality=80),
        "ppm": pnm(_PHOTO),
        "pgm": pnm(_PHOTO[..., :1]),
        "pgm 16": pnm(_PHOTO[..., :1].astype(np.uint16) * 250),
        "pbm": b"P4\n9 2\n\xaa\x80\x55\x00",
        "pbm text": _text_pnm("P1", "", grey % 2),
        "pgm text": _text_pnm("P2", "255\n", grey),
        "ppm text": _text_pnm("P3", "255\n", _PHOTO.reshape(18, -1)).replace(b"81 18", b"27 18"),
        "jpeg 2000": encode(_PHOTO, "JPEG2000"),
        "jpeg 2000 grey": encode(_PHOTO[..., :1], "JPEG2000"),
        "jpeg 2000 alpha": encode(_WITH_ALPHA, "JPEG2000"),
        "jpeg 2000 lossy": encode(
            _PHOTO, "JPEG2000", irreversible=True, quality_mode="rates", quality_layers=[20]
        ),
        "jpeg 2000 tiles": encode(photo_like(40, 50), "JPEG2000", tile_size=(16, 16)),
        "jpeg 2000 bare": encode(_PHOTO, "JPEG2000", no_jp2=True),
    }


def all_images() -> dict[str, bytes]:
    """Make one file of each kind."""
    return jpegs() | pngs() | others()


def damaged(file: bytes, seed: int) -> bytes:
    """Change a file at one to four places: bits, bytes, lengths, order; most often its header."""
    draw = random.Random(seed)
    result = bytearray(file)
    for _ in range(draw.randint(1, 4)):
        if not result:
            break
        at = draw.randrange(min(len(result), draw.choice((40, 260, len(result)))))
        kind = draw.randrange(9)
        if kind == 0:
            result[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            result[at] = draw.randrange(256)
        elif kind == 2:
            result[at] = draw.choice(_TELLING_BYTES)
        elif kind == 3:
            result[at : at + 4] = draw.choice(
                (b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff")
            )
        elif kind == 4:
            result[at] = (result[at] + draw.choice((-1, 1))) % 256
        elif kind == 5:
            start = draw.randrange(len(result))
            result[at : at + 16] = result[start : start + 16]
        elif kind == 6:
            del result[at : at + draw.randint(1, 8)]
        elif kind == 7:
            result[at:at] = bytes([draw.randrange(256)]) * draw.randint(1, 8)
        elif draw.randrange(4) == 0:
            del result[at:]
    return _with_checksums(bytes(result)) if draw.randrange(2) else bytes(result)


def _with_checksums(file: bytes) -> bytes:
    """Repair the checksums of a PNG file, so that damage reaches the parser of its content."""
    if not file.startswith(b"\x89PNG\r\n\x1a\n"):
        return file
    result = bytearray(file)
    position = 8
    while position + 12 <= len(result):
        end = position + 8 + int.from_bytes(result[position : position + 4], "big")
        if end + 4 > len(result):
            break
        result[end : end + 4] = zlib.crc32(result[position + 4 : end]).to_bytes(4, "big")
        position = end + 4
    return bytes(result)
