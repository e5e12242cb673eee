"""Our own JPEG decoder: supported files, pixels equal to the library's, and unsupported files."""

from __future__ import annotations

import struct
from collections.abc import Callable

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
    FACTORS,
    LARGEST,
    WHOLE,
    Window,
    coarse_file,
    compare,
    damaged_file,
    damaged_progressive_file,
    file_of_size,
    outcomes,
    progressive_file,
    sound_file,
    window_of,
)
from tests.jpeg_writer import segment, write_jpeg
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
def test_files_decoded_without_a_library(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use_jpeg_library("libjpeg", monkeypatch)
    expected = decode_one(TAKEN[name])
    use_jpeg_library("own", monkeypatch)
    np.testing.assert_array_equal(decode_one(TAKEN[name]), expected, strict=True)


@pytest.mark.parametrize("name", LEFT)
def test_files_decoded_by_a_library(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use_jpeg_library("libjpeg", monkeypatch)
    expected = decode_one(LEFT[name])
    monkeypatch.delenv("DALI_CORE_JPEG")
    np.testing.assert_array_equal(decode_one(LEFT[name]), expected, strict=True)
    use_jpeg_library("own", monkeypatch)
    message = failure(LEFT[name])
    assert "be sequential in one scan or progressive" in message
    assert message.endswith("Unset it to decode with a library.")


def test_grey_of_rgb_is_decoded_by_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_fallback_of_damaged_files_keeps_the_random_window(
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


@pytest.mark.parametrize(
    ("make", "count", "least"),
    [
        (sound_file, 60, 80),
        (progressive_file, 60, 80),
        (damaged_file, 150, 50),
        (damaged_progressive_file, 150, 50),
        (coarse_file, 100, 150),
    ],
)
def test_at_smaller_sizes(
    make: Callable[[int], bytes], count: int, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_jpeg_library("libjpeg", monkeypatch)
    files = {f"{make.__name__} {number}": make(number) for number in range(count)}
    assert compare(files, "", reduced=True)["decoded"] > least


def test_all_factors_and_many_sizes_at_smaller_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    use_jpeg_library("libjpeg", monkeypatch)
    numbers = np.random.default_rng(3).integers(0, len(FACTORS) * LARGEST**2, 150)
    files = {f"size {number}": file_of_size(int(number)) for number in numbers}
    assert compare(files, "", reduced=True)["decoded"] > 200


@pytest.mark.parametrize("sample", [2, 254])
def test_means_out_of_range(sample: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # The library wraps results around from 512 on. Means are 63 times the quantisation step, by 8.
    use_jpeg_library("libjpeg", monkeypatch)
    file = write_jpeg([np.full((64, 64), sample, np.uint8)], [(1, 1)], step=16)
    table = file.index(b"\xff\xdb") + 5
    steps = range(62, 72)
    files = {str(step): file[:table] + bytes([step]) + file[table + 1 :] for step in steps}
    for window in (WHOLE, (0.0, 0.5, 1.0, 0.5)):
        assert compare(files, "", lambda _, window=window: window, reduced=True)["decoded"] == 20


def test_parts_of_small_images_by_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    # Its cropped rows are wrong here, so it decodes whole rows.
    use_jpeg_library("libjpeg", monkeypatch)
    image = np.moveaxis(photo_like(30, 800), 2, 0)
    file = write_jpeg(list(image), [(4, 2), (1, 1), (1, 1)], step=3)
    windows: list[Window] = [(0, x / 10, 1, 0.2) for x in range(9)]
    ours, theirs = (
        list(outcomes([file] * len(windows), windows, decoder, scaled_decode=True))
        for decoder in ("own", "libjpeg")
    )
    for one, other in zip(ours, theirs, strict=True):
        assert isinstance(one, np.ndarray)
        np.testing.assert_array_equal(one, other, strict=True)


def test_the_decoder_itself_makes_small_images() -> None:
    files = [sound_file(number) for number in range(100)]
    windows = [window_of(number) for number in range(100)]
    reduced, full = (
        list(outcomes(files, windows, "own", scaled_decode=scaled)) for scaled in (True, False)
    )
    assert (
        sum(
            not np.array_equal(one, other)
            for one, other in zip(reduced, full, strict=True)
            if not isinstance(one, str) and not isinstance(other, str)
        )
        > 20
    )
