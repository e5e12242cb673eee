"""Our own JPEG decoder: supported files, pixels equal to the library's, and unsupported files."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from dali_core import types
from tests.generated_images import (
    SAMPLINGS,
    cmyk_jpeg,
    encode,
    jpeg,
    photo_like,
    sampled_jpeg,
    with_orientation,
    without_last_scans,
    without_segments,
)
from tests.huffman_jpegs import (
    compare,
    damaged_file,
    damaged_progressive_file,
    progressive_file,
    sound_file,
)
from tests.jpeg_writer import segment
from tests.operators.decoders.decoding import decode, decode_one, failure, use_jpeg_library

PHOTO = photo_like(70, 91)
WITHOUT_EXIF = jpeg(PHOTO)


def with_marker(file: bytes, old: int, new: int) -> bytes:
    """Change the second byte of a marker."""
    at = file.index(bytes([0xFF, old]))
    return file[: at + 1] + bytes([new]) + file[at + 2 :]


def with_steps_of_16_bits(file: bytes) -> bytes:
    """Write the quantisation tables with 16 bits."""
    tables = b""
    position = 2
    while file[position + 1] != 0xDA:
        length = struct.unpack_from(">H", file, position + 2)[0]
        if file[position + 1] == 0xDB:
            body = file[position + 4 : position + 2 + length]
            for start in range(0, len(body), 65):
                steps = struct.pack(">64H", *body[start + 1 : start + 65])
                tables += segment(0xDB, bytes([body[start] | 16]) + steps)
        position += 2 + length
    return file[:2] + tables + without_segments(file, 0xDB)[2:]


def scans_of(file: bytes) -> list[int]:
    """Return where the scans of a file begin."""
    starts = [file.index(b"\xff\xda")]
    while (start := file.find(b"\xff\xda", starts[-1] + 2)) >= 0:
        starts.append(start)
    return starts


def with_scan_again(file: bytes) -> bytes:
    """Repeat the first scan."""
    first, second = scans_of(file)[:2]
    end = file.rindex(b"\xff\xc4", first, second)
    return file[:end] + file[first:end] + file[end:]


def with_steps_between_scans(file: bytes) -> bytes:
    """Define a quantisation table between scans, which has an effect on no component before."""
    second = scans_of(file)[1]
    return file[:second] + segment(0xDB, bytes([3] + [7] * 64)) + file[second:]


TAKEN = {
    "444": jpeg(PHOTO, 95, 0),
    "420": jpeg(PHOTO, 75, 2),
    "quality 1": jpeg(PHOTO, 1, 1),
    "quality 100": jpeg(PHOTO, 100, 0),
    "noise": jpeg(np.random.default_rng(1).integers(0, 256, (40, 50, 3), np.uint8), 100),
    "flat": jpeg(np.full((40, 50, 3), 200, np.uint8)),
    "black": jpeg(np.zeros((40, 50, 3), np.uint8), 100),
    "one pixel": jpeg(PHOTO[:1, :1]),
    "grey": jpeg(PHOTO[..., :1]),
    "cmyk": cmyk_jpeg(37, 53),
    "ycck": cmyk_jpeg(37, 53, transform=2, subsampled=True),
    "extended": with_marker(jpeg(PHOTO), 0xC0, 0xC1),
    "16 bits": with_steps_of_16_bits(jpeg(PHOTO, 30)),
    "optimised": encode(PHOTO, "JPEG", quality=85, optimize=True),
    "turned": with_orientation(WITHOUT_EXIF, 6),
    **{f"restarts {name}": sampled_jpeg(33, 70, name, restart_interval=3) for name in SAMPLINGS},
}
PROGRESSIVE = jpeg(PHOTO, progressive=True)
TAKEN |= {
    "progressive": PROGRESSIVE,
    "progressive 444": jpeg(PHOTO, 100, 0, progressive=True),
    "progressive pixel": jpeg(PHOTO[:1, :1], progressive=True),
    "progressive grey": jpeg(PHOTO[..., :1], progressive=True),
    "progressive turned": with_orientation(PROGRESSIVE, 5),
    "progressive flat": jpeg(np.full((40, 50, 3), 200, np.uint8), progressive=True),
    **{
        f"progressive {name}": sampled_jpeg(33, 70, name, progressive=True, restart_interval=3)
        for name in SAMPLINGS
    },
}
LEFT = {
    "progressive without last scans": without_last_scans(PROGRESSIVE, 2),
    "scan twice": with_scan_again(PROGRESSIVE),
    "steps between scans": with_steps_between_scans(PROGRESSIVE),
    "several scans": sampled_jpeg(33, 70, "420", interleaved=False),
    "without codes": without_segments(WITHOUT_EXIF, 0xC4),
    "without an end": WITHOUT_EXIF[:-2] + bytes(20),
    "byte too many": WITHOUT_EXIF[:-2] + bytes(1) + WITHOUT_EXIF[-2:],
    "text between segments": WITHOUT_EXIF[:20] + b"text" + WITHOUT_EXIF[20:],
}


@pytest.mark.parametrize("name", TAKEN)
def test_taken(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use_jpeg_library("libjpeg", monkeypatch)
    expected = decode_one(TAKEN[name])
    use_jpeg_library("own", monkeypatch)
    np.testing.assert_array_equal(decode_one(TAKEN[name]), expected, strict=True)


@pytest.mark.parametrize("name", LEFT)
def test_left_to_a_library(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use_jpeg_library("libjpeg", monkeypatch)
    expected = decode_one(LEFT[name])
    monkeypatch.delenv("DALI_CORE_JPEG")
    np.testing.assert_array_equal(decode_one(LEFT[name]), expected, strict=True)
    use_jpeg_library("own", monkeypatch)
    message = failure(LEFT[name])
    assert "be sequential in one scan or progressive" in message
    assert message.endswith("Unset it to decode with a library.")


def test_grey_of_rgb_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    file = without_segments(sampled_jpeg(33, 70, "444", adobe_transform=0), 0xE0)
    use_jpeg_library("libjpeg", monkeypatch)
    grey = decode_one(file, output_type=types.GRAY)
    rgb = decode_one(file)
    use_jpeg_library("own", monkeypatch)
    np.testing.assert_array_equal(decode_one(file), rgb)
    assert "be sequential in one scan or progressive" in failure(file, output_type=types.GRAY)
    monkeypatch.delenv("DALI_CORE_JPEG")
    np.testing.assert_array_equal(decode_one(file, output_type=types.GRAY), grey)


@pytest.mark.parametrize("dtype", [types.FLOAT, types.UINT16])
def test_other_types(dtype: types.DALIDataType, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [TAKEN[name] for name in ("420", "grey", "cmyk", "turned")]
    use_jpeg_library("libjpeg", monkeypatch)
    expected = decode(files, dtype=dtype)
    use_jpeg_library("own", monkeypatch)
    for one, other in zip(decode(files, dtype=dtype), expected, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def test_what_a_damaged_file_was_given_is_given_to_the_library(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The damage is detected when the region is drawn and the output declared.
    file = bytearray(TAKEN["444"])
    file[len(file) * 3 // 4 : len(file) * 3 // 4 + 8] = b"\xff\0" * 4
    arguments = {"seed": 11, "random_area": [0.7, 0.9]}
    use_jpeg_library("libjpeg", monkeypatch)
    expected = decode_one(bytes(file), "image_random_crop", **arguments)
    monkeypatch.delenv("DALI_CORE_JPEG")
    found = decode_one(bytes(file), "image_random_crop", **arguments)
    np.testing.assert_array_equal(found, expected, strict=True)


def test_sound_files_and_their_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    use_jpeg_library("libjpeg", monkeypatch)
    files = {f"sound {number}": sound_file(number) for number in range(20_000, 20_150)}
    counts = compare(files, "")
    assert counts["decoded"] > 100


def test_progressive_files_and_their_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    use_jpeg_library("libjpeg", monkeypatch)
    files = {f"progressive {number}": progressive_file(number) for number in range(150)}
    counts = compare(files, "")
    assert counts["decoded"] > 100


def test_damaged_progressive_files_and_their_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    use_jpeg_library("libjpeg", monkeypatch)
    numbers = range(30_000, 30_300)
    files = {f"damaged {number}": damaged_progressive_file(number) for number in numbers}
    counts = compare(files, "")
    assert counts["decoded"] > 50
    assert counts["refused"] > 50


def test_damaged_files_and_their_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    use_jpeg_library("libjpeg", monkeypatch)
    files = {f"damaged {number}": damaged_file(number) for number in range(30_000, 30_300)}
    counts = compare(files, "")
    assert counts["decoded"] > 50
    assert counts["refused"] > 50
