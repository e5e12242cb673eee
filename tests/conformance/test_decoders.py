"""Decoders return what NVIDIA DALI returns, bit for bit.

Where this library differs on purpose:

* ``ANY_DATA`` of a grey JPEG has one channel, and of a JPEG of four components is RGB; the
  reference crashes or rejects.
* ``FLOAT16`` is a possible output; the reference rejects it.
* ``GRAY`` of a turned TIFF image is computed from the stored rows; the reference uses another
  codec for turned images, and up to a few pixels in a thousand differ by one level.
* Progressive files that miss their last scans are smoothed; one version of libjpeg-turbo does it a
  little differently from another, and up to a few pixels in a hundred differ by one level.
* Windows of ``image_random_crop`` are drawn by another generator, so they are not compared.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from PIL import Image

import dali_core
import dali_core.fn
import dali_core.types
from tests.generated_images import (
    SAMPLINGS,
    cmyk_jpeg,
    encode,
    exif,
    jpeg,
    mutated,
    photo_like,
    png,
    pnm,
    sampled_jpeg,
    truncated,
    with_orientation,
    with_segment,
    without_last_scans,
    without_segments,
)
from tests.lossless_jpeg import write_lossless_jpeg
from tests.operators.decoders.decoding import JPEG_LIBRARIES, use_jpeg_library

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")

HEIGHT, WIDTH = 37, 53
PHOTO = photo_like(HEIGHT, WIDTH)
PHOTO_16 = PHOTO.astype(np.uint16) * 250 + np.arange(WIDTH, dtype=np.uint16)[None, :, None]
WITH_ALPHA = photo_like(HEIGHT, WIDTH, 4)

OUTPUT_TYPES = ("RGB", "BGR", "GRAY", "YCbCr")
DTYPES = ("UINT8", "INT8", "UINT16", "INT16", "UINT32", "INT32", "FLOAT")


def turned(file_format: str, orientation: int) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return encode(PHOTO, file_format, exif=exif)


def palette_png(**options: Any) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(PHOTO).quantize(8).save(buffer, "PNG", **options)
    return buffer.getvalue()


def grey_png(bits: int) -> bytes:
    """Make a grey PNG whose samples have 1, 2 or 4 bits."""
    samples = PHOTO[..., 0] >> 8 - bits
    per_byte = 8 // bits
    padded = np.pad(samples, ((0, 0), (0, -WIDTH % per_byte))).reshape(HEIGHT, -1, per_byte)
    shifts = np.arange(per_byte)[::-1] * bits
    rows = (padded.astype(int) << shifts).sum(-1).astype(np.uint8)
    return png_file(bits, 0, b"".join(b"\0" + row.tobytes() for row in rows))


def interlaced_png() -> bytes:
    """Make a colour PNG in the seven passes of Adam7."""
    passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2)]
    parts = [PHOTO[y::dy, x::dx] for y, x, dy, dx in [*passes, (1, 0, 2, 1)]]
    rows = b"".join(b"\0" + row.tobytes() for part in parts for row in part)
    return png_file(8, 2, rows, interlaced=True)


def png_file(bits: int, colour_type: int, rows: bytes, *, interlaced: bool = False) -> bytes:
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, bits, colour_type, 0, 0, interlaced)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )


COLOUR_JPEGS = {
    **{name: sampled_jpeg(HEIGHT, WIDTH, name) for name in SAMPLINGS},
    **{f"{name} progressive": sampled_jpeg(45, 31, name, progressive=True) for name in SAMPLINGS},
    "restarts": sampled_jpeg(HEIGHT, WIDTH, "420", restart_interval=2),
    "scans": sampled_jpeg(HEIGHT, WIDTH, "420", interleaved=False),
    "stored as RGB": sampled_jpeg(HEIGHT, WIDTH, "444", adobe_transform=0),
    "photo": jpeg(photo_like(210, 310)),
    "rough": jpeg(PHOTO, 5),
    "without tables": without_segments(jpeg(PHOTO), 0xC4),
    "progressive photo": jpeg(photo_like(150, 90), progressive=True),
    "1 x 1": jpeg(photo_like(1, 1)),
    "2 x 3": jpeg(photo_like(2, 3)),
    "5 x 1": jpeg(photo_like(5, 1)),
}
TURNED_JPEGS = {
    f"orientation {value}": with_orientation(jpeg(PHOTO), value, "<>"[value % 2])
    for value in range(10)
}
OTHER_JPEGS = {
    "grey": jpeg(PHOTO[..., :1]),
    "CMYK": cmyk_jpeg(HEIGHT, WIDTH),
    "CMYK without marker": cmyk_jpeg(HEIGHT, WIDTH, transform=None),
    "YCCK": cmyk_jpeg(HEIGHT, WIDTH, transform=2),
    "YCCK subsampled": cmyk_jpeg(HEIGHT, WIDTH, transform=2, subsampled=True),
}
OTHER_FORMATS = {
    "png": png(PHOTO),
    "png grey": png(PHOTO[..., :1]),
    "png alpha": png(WITH_ALPHA),
    "png grey alpha": png(WITH_ALPHA[..., :2]),
    "png 16": png(PHOTO_16),
    "png grey 16": png(PHOTO_16[..., :1]),
    "png palette": palette_png(),
    "png palette 4": palette_png(bits=4),
    "png palette transparent": palette_png(transparency=3),
    "png 1": encode(PHOTO[..., :1], "PNG", "1"),
    "png turned": turned("PNG", 6),
    "png 16 alpha": png(photo_like(HEIGHT, WIDTH, 4).astype(np.uint16) * 251),
    "png grey 2": grey_png(2),
    "png grey 4": grey_png(4),
    "png interlaced": interlaced_png(),
    "bmp": encode(PHOTO, "BMP"),
    "bmp grey": encode(PHOTO[..., :1], "BMP"),
    "bmp palette": encode(PHOTO, "BMP", "P"),
    "bmp alpha": encode(WITH_ALPHA, "BMP"),
    "bmp 1": encode(PHOTO, "BMP", "1"),
    "tiff": encode(PHOTO, "TIFF"),
    "tiff grey": encode(PHOTO[..., :1], "TIFF"),
    "tiff alpha": encode(WITH_ALPHA, "TIFF"),
    "tiff palette": encode(PHOTO, "TIFF", "P"),
    "tiff lzw": encode(PHOTO, "TIFF", compression="tiff_lzw"),
    "tiff deflate": encode(PHOTO, "TIFF", compression="tiff_adobe_deflate"),
    "tiff packbits": encode(PHOTO, "TIFF", compression="packbits"),
    "tiff jpeg": encode(PHOTO, "TIFF", compression="jpeg"),
    "tiff fax": encode(PHOTO, "TIFF", "1", compression="group4"),
    "tiff strips": encode(photo_like(90, 70), "TIFF", compression="tiff_lzw", strip_size=2000),
    "tiff tiles": encode(photo_like(90, 70), "TIFF", tiled=True),
    "tiff grey 16": encode(PHOTO_16[..., 0], "TIFF"),
    "tiff float": encode((PHOTO[..., 0] / 255).astype(np.float32), "TIFF"),
    "webp": encode(PHOTO, "WEBP", quality=80),
    "webp lossless": encode(PHOTO, "WEBP", lossless=True),
    "webp alpha": encode(WITH_ALPHA, "WEBP", lossless=True),
    "webp turned": turned("WEBP", 8),
    "webp lossy alpha": encode(WITH_ALPHA, "WEBP", quality=80),
    "pbm": b"P4\n9 2\n\xaa\x80\x55\x00",
    "pbm text": b"P1\n4 2\n1 0 1 0\n0 1 1 1\n",
    "pgm text": b"P2\n# comment\n3 2\n255\n1 2 3 4 5 255\n",
    "pgm text 100": b"P2\n3 2\n100\n1 2 3 4 5 100\n",
    "ppm text": b"P3\n2 1\n255\n1 2 3 4 5 255\n",
    "ppm": pnm(PHOTO),
    "pgm": pnm(PHOTO[..., :1]),
    "ppm 16": pnm(PHOTO_16),
    "jpeg 2000": encode(PHOTO, "JPEG2000"),
    "jpeg 2000 lossy": encode(PHOTO, "JPEG2000", irreversible=True, quality_layers=[20]),
    "jpeg 2000 alpha": encode(WITH_ALPHA, "JPEG2000"),
    "jpeg 2000 grey": encode(PHOTO[..., :1], "JPEG2000"),
    "jpeg 2000 tiles": encode(PHOTO, "JPEG2000", tile_size=(16, 16)),
    "jpeg 2000 bare": encode(PHOTO, "JPEG2000", no_jp2=True),
}
ALL_FILES = COLOUR_JPEGS | TURNED_JPEGS | OTHER_JPEGS | OTHER_FORMATS


@pytest.fixture(params=JPEG_LIBRARIES)
def jpeg_library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    use_jpeg_library(request.param, monkeypatch)
    return str(request.param)


def decode(library: Any, files: Sequence[bytes], arguments: Mapping[str, Any]) -> list[np.ndarray]:
    samples = [np.frombuffer(file, np.uint8) for file in files]
    arguments = {
        name: getattr(library.types, value) if isinstance(value, str) else value
        for name, value in arguments.items()
    }
    pipeline = library.Pipeline(batch_size=len(samples), num_threads=2, device_id=None, seed=1)
    with pipeline:
        data = library.fn.external_source(source=lambda: samples)
        pipeline.set_outputs(library.fn.decoders.image(data, **arguments))
    pipeline.build()
    (batch,) = pipeline.run()
    assert batch.layout() == "HWC"
    return [np.array(batch.at(i)) for i in range(len(samples))]


def check(files: Mapping[str, bytes], **arguments: Any) -> None:
    ours = decode(dali_core, list(files.values()), arguments)
    theirs = decode(reference, list(files.values()), arguments)
    for name, one, other in zip(files, ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=name, strict=True)


@pytest.mark.usefixtures("jpeg_library")
@pytest.mark.parametrize("output_type", OUTPUT_TYPES)
def test_jpeg(output_type: str) -> None:
    check(COLOUR_JPEGS | OTHER_JPEGS | TURNED_JPEGS, output_type=output_type)


@pytest.mark.usefixtures("jpeg_library")
def test_jpeg_options() -> None:
    files = COLOUR_JPEGS | OTHER_JPEGS | TURNED_JPEGS
    check(files, adjust_orientation=False)
    check(files, use_fast_idct=True)
    check(files, jpeg_fancy_upsampling=True)
    check(COLOUR_JPEGS | TURNED_JPEGS, output_type="ANY_DATA")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("output_type", OUTPUT_TYPES)
def test_types(output_type: str, dtype: str) -> None:
    check(ALL_FILES, output_type=output_type, dtype=dtype)


def test_any_data_of_other_formats() -> None:
    refused = ("png grey alpha", "bmp alpha")
    files = {name: file for name, file in OTHER_FORMATS.items() if name not in refused}
    check(files, output_type="ANY_DATA")
    check(files, output_type="ANY_DATA", dtype="UINT16")


def test_grey_of_turned_tiff_differs_by_a_level() -> None:
    files = [turned("TIFF", value) for value in range(1, 9)]
    check({str(number): file for number, file in enumerate(files)})
    arguments = {"output_type": "GRAY"}
    ours, theirs = (decode(library, files, arguments) for library in (dali_core, reference))
    for one, other in zip(ours, theirs, strict=True):
        difference = np.abs(one.astype(int) - other)
        assert difference.max() <= 1
        assert (difference > 0).mean() < 0.01


def test_unfinished_progressive_files_differ_by_a_level() -> None:
    photo = jpeg(photo_like(90, 120), progressive=True)
    for count in range(1, 9):
        file = without_last_scans(photo, count)
        ours, theirs = (decode(library, [file], {})[0] for library in (dali_core, reference))
        difference = np.abs(ours.astype(int) - theirs)
        assert difference.max() <= 1
        assert (difference > 0).mean() < 0.05


DAMAGED = {
    **{f"mutated {seed}": mutated(jpeg(PHOTO, 95), seed, 3, first=700) for seed in range(20)},
    **{
        f"mutated progressive {seed}": mutated(jpeg(PHOTO, progressive=True), seed, 3)
        for seed in range(20)
    },
    **{f"without last {n} bytes": jpeg(PHOTO)[:-n] for n in (1, 2, 3, 20)},
    **{f"part {share}": truncated(jpeg(PHOTO), share) for share in (0.1, 0.3, 0.6, 0.9)},
    "no end marker": jpeg(PHOTO)[:-2] + bytes(20),
    "more after the end": jpeg(PHOTO) + b"more",
    "png part": truncated(png(PHOTO), 0.8),
    "png without end": png(PHOTO)[:-12],
    "png damaged end": png(PHOTO)[:-1] + b"!",
    "png more after the end": png(PHOTO) + b"more",
    "webp part": truncated(encode(PHOTO, "WEBP"), 0.8),
    "bmp part": truncated(encode(PHOTO, "BMP"), 0.8),
    "text": b"This is not an image.",
}


def outcome(library: Any, file: bytes) -> np.ndarray | None:
    try:
        return decode(library, [file], {})[0]
    except RuntimeError:
        return None


def test_damaged_files(monkeypatch: pytest.MonkeyPatch) -> None:
    use_jpeg_library("libjpeg", monkeypatch)
    for name, file in DAMAGED.items():
        ours, theirs = outcome(dali_core, file), outcome(reference, file)
        assert (ours is None) == (theirs is None), name
        if ours is not None and theirs is not None:
            np.testing.assert_array_equal(ours, theirs, err_msg=name, strict=True)


def test_lossless_jpeg() -> None:
    """Where it is decoded there, the pixels are the same."""
    for channels, output_types in ((1, ("GRAY",)), (3, ("RGB", "BGR", "YCbCr"))):
        image = photo_like(HEIGHT, WIDTH, channels)
        files = {f"{i}": write_lossless_jpeg(image, predictor=i) for i in range(1, 8)}
        for output_type in output_types:
            check(files, output_type=output_type)


def test_forms_of_orientations() -> None:
    """The reference takes fewer forms: those of several values only as SHORT."""
    plain = jpeg(PHOTO)
    forms: list[dict[str, Any]] = [
        *({"kind": kind} for kind in (3, 4, 6, 8, 9)),
        *({"count": 2, "byte_order": order} for order in "<>"),
        {"others": (4, 4)},
        {"gap": 100},
    ]
    segments = [b"Exif\0\0" + exif(**form) for form in forms]
    files = {str(i): with_segment(plain, 0xE1, one) for i, one in enumerate(segments)}
    for marker in (0xC4, 0xDA):
        files[f"before {marker}"] = with_segment(plain, 0xE1, segments[0], marker)
    check(files)


@pytest.mark.parametrize("shape", [(1, -1), (-1, 1)])
def test_encoded_data_of_further_dimensions(shape: tuple[int, int]) -> None:
    file = np.frombuffer(jpeg(PHOTO), np.uint8).reshape(shape)
    found = []
    for library in (dali_core, reference):
        pipeline = library.Pipeline(batch_size=1, num_threads=1, device_id=None)
        with pipeline:
            data = library.fn.external_source(source=lambda: [file])
            pipeline.set_outputs(library.fn.decoders.image(data))
        pipeline.build()
        found.append(np.array(pipeline.run()[0].at(0)))
    np.testing.assert_array_equal(*found)
