"""Exif orientations in every form that Pillow takes, in all formats that may have them."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from tests.generated_images import (
    encode,
    exif,
    jpeg,
    orient,
    photo_like,
    png,
    with_png_chunk,
    with_segment,
)
from tests.operators.decoders.decoding import decode
from tests.operators.test_peek_image_shape import peek

HEIGHT, WIDTH = 24, 40
PHOTO = photo_like(HEIGHT, WIDTH)
MARK = b"Exif\0\0"
ADOBE_XMP = b"http://ns.adobe.com/xap/1.0/\0<x/>"
NUMBERS = (3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 16)  # types of TIFF; the others are bytes and text
FORMS: dict[str, dict[str, Any]] = {
    **{
        f"type {kind}, count {count}, {order}": {"kind": kind, "count": count, "byte_order": order}
        for kind in (*NUMBERS, 1, 2, 7)
        for count in (1, 2, 3)
        for order in "<>"
    },
    "no value": {"count": 0},
    "other entries": {"others": (5, 7)},
    "far directory": {"gap": 1000},
    "value 0": {"orientation": 0},
    "value 9": {"orientation": 9},
    "value 262": {"orientation": 262},
    "value 65542": {"orientation": 65542, "kind": 4},
}


def by_pillow(file: bytes) -> int:
    """Return the orientation with which Pillow shows a file."""
    pillow = pytest.importorskip("PIL.Image", reason="not available: Pillow")
    operations = pytest.importorskip("PIL.ImageOps", reason="not available: Pillow")
    with pillow.open(io.BytesIO(file)) as image:
        # Pillow turns TIFF while it loads it.
        stored = PHOTO if image.format == "TIFF" else np.asarray(image.convert("RGB"))
        shown = np.asarray(operations.exif_transpose(image).convert("RGB"))
    (orientation,) = [i for i in range(1, 9) if np.array_equal(orient(stored, i), shown)]
    return orientation


def check(files: dict[str, bytes]) -> None:
    names = list(files)
    stored = decode(list(files.values()), adjust_orientation=False)
    shown = decode(list(files.values()))
    expected = {name: by_pillow(file) for name, file in files.items()}
    found = {
        name: [i for i in range(1, 9) if np.array_equal(orient(one, i), other)]
        for name, one, other in zip(names, stored, shown, strict=True)
    }
    assert found == {name: [orientation] for name, orientation in expected.items()}
    shapes = peek(list(files.values()))
    assert shapes.tolist() == [list(image.shape) for image in shown]


@pytest.mark.filterwarnings("ignore::UserWarning")  # Pillow's, about several values
def test_forms_in_jpeg() -> None:
    plain = jpeg(PHOTO)
    files = {name: with_segment(plain, 0xE1, MARK + exif(**form)) for name, form in FORMS.items()}
    check(files)
    assert sum(by_pillow(file) == 6 for file in files.values()) > 60


def test_values_in_jpeg() -> None:
    plain = jpeg(PHOTO)
    check(
        {
            f"{value} {kind}": with_segment(plain, 0xE1, MARK + exif(value, kind=kind))
            for value in range(1, 9)
            for kind in NUMBERS
        }
    )


def test_places_in_jpeg() -> None:
    """Exif data may follow other segments, and the frame header."""
    plain = jpeg(PHOTO)
    files = {
        f"before {m:x}": with_segment(plain, 0xE1, MARK + exif(), m) for m in (0xE0, 0xC4, 0xDA)
    }
    behind = with_segment(plain, 0xE1, MARK + exif(8))
    for marker, payload in ((0xFE, b"text"), (0xED, b"Photoshop 3.0"), (0xE1, ADOBE_XMP)):
        behind = with_segment(behind, marker, payload)
    files["behind others"] = behind
    files["two segments"] = with_segment(behind, 0xE1, MARK + exif(3))
    files["empty one first"] = with_segment(behind, 0xE1, MARK + b"II*\0\x08\0\0\0" + bytes(6))
    check(files)
    assert by_pillow(files["behind others"]) == 8


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("file_format", ["PNG", "WEBP", "TIFF"])
def test_forms_in_other_formats(file_format: str) -> None:
    files = {}
    for name, form in FORMS.items():
        data = exif(**form)
        if file_format == "PNG":
            files[name] = with_png_chunk(png(PHOTO), b"eXIf", data, b"IDAT")
        elif file_format == "WEBP":
            files[name] = encode(PHOTO, "WEBP", exif=data)
        elif (tiff := _tiff(form)) is not None:
            files[name] = tiff
    if file_format == "PNG":
        files["behind the pixels"] = with_png_chunk(png(PHOTO), b"eXIf", exif(), b"IEND")
        files["with a mark"] = with_png_chunk(png(PHOTO), b"eXIf", MARK + exif(5), b"IDAT")
    check(files)


def _tiff(form: dict[str, Any]) -> bytes | None:
    """Change the entry of the orientation in a TIFF file, where its form fits there."""
    file = bytearray(encode(PHOTO, "TIFF", tiffinfo={0x0112: 6}))
    # The codec refuses several values.
    if (
        form.keys() - {"kind", "orientation", "count", "byte_order"}
        or form.get("byte_order") == ">"
        or form.get("count", 1) != 1
    ):
        return None
    if form.get("kind", 3) not in (3, 4):
        return None
    data = exif(**form)
    place = file.index(b"\x12\x01\x03\x00\x01\0\0\0\x06\0")
    file[place : place + 12] = data[10:22]
    return bytes(file)


def test_hostile_offsets() -> None:
    """Offsets and counts that point outside turn nothing; every cut of the data is harmless."""
    plain = jpeg(PHOTO)
    data = exif(6, kind=12, byte_order=">")
    hostile = [data[:size] for size in range(len(data))]
    for place in (4, 8, 14, 18):
        for value in (b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\x07"):
            hostile.append(data[:place] + value + data[place + 4 :])
    files = [with_segment(plain, 0xE1, MARK + one) for one in hostile]
    files += [with_png_chunk(png(PHOTO), b"eXIf", one, b"IDAT") for one in hostile]
    for image in decode(files):
        assert image.shape == (HEIGHT, WIDTH, 3)
