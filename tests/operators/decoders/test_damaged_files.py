"""Damaged, malicious and unsupported files: an error with a readable message, and nothing else."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest

from dali_core import fn
from dali_core.errors import SampleError
from tests.generated_images import (
    encode,
    jpeg,
    mutated,
    photo_like,
    png,
    pnm,
    sampled_jpeg,
    truncated,
    with_jpeg_size,
    with_orientation,
    without_last_scans,
    without_segments,
)
from tests.operators.decoders.decoding import decode, decode_one, failure, use_jpeg_library
from tests.operators.suite import pipeline

PHOTO = photo_like(64, 96)
JPEGS = {
    "sequential": jpeg(PHOTO),
    "progressive": jpeg(PHOTO, progressive=True),
    "restarts": sampled_jpeg(64, 96, "420", restart_interval=3),
    "scans": sampled_jpeg(64, 96, "420", interleaved=False),
    "turned": with_orientation(jpeg(PHOTO), 5),
    "grey": jpeg(PHOTO[..., :1]),
}
OTHERS = {
    "png": png(PHOTO),
    "bmp": encode(PHOTO, "BMP"),
    "webp": encode(PHOTO, "WEBP", lossless=True),
    "ppm": pnm(PHOTO),
    "jpeg 2000": encode(PHOTO, "JPEG2000"),
}
NO_IMAGES = {
    "empty": b"",
    "one byte": b"\xff",
    "text": b"This is not an image." * 20,
    "zeros": bytes(1000),
    "start of a JPEG": b"\xff\xd8\xff",
    "end of a JPEG": b"\xff\xd8\xff\xd9",
    "gif": encode(PHOTO, "GIF"),
    "avif": b"\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf" + bytes(1000),
    "pam": b"P7\nWIDTH 2\nHEIGHT 1\nDEPTH 3\nMAXVAL 255\nTUPLTYPE RGB\nENDHDR\n" + bytes(6),
}


@pytest.fixture
def libjpeg(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decode JPEG quietly: nvImageCodec prints its errors."""
    use_jpeg_library("libjpeg", monkeypatch)


NEEDS_LIBJPEG = pytest.mark.usefixtures("libjpeg")


def check_readable(message: str) -> None:
    assert " must " in message
    assert "(got" in message
    assert message.endswith(".")
    assert message.isprintable()


@NEEDS_LIBJPEG
@pytest.mark.parametrize("name", NO_IMAGES)
def test_no_image(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    check_readable(failure(NO_IMAGES[name]))
    check_readable(failure(NO_IMAGES[name], "image_random_crop"))
    assert capfd.readouterr() == ("", "")


FRACTIONS = pytest.mark.parametrize("fraction", [0.02, 0.2, 0.5, 0.75, 0.97])


@NEEDS_LIBJPEG
@FRACTIONS
@pytest.mark.parametrize("name", JPEGS)
def test_jpeg_that_was_cut_off(
    name: str, fraction: float, capfd: pytest.CaptureFixture[str]
) -> None:
    check_readable(failure(truncated(JPEGS[name], fraction)))
    assert capfd.readouterr() == ("", "")


@FRACTIONS
@pytest.mark.parametrize("name", OTHERS)
def test_other_file_that_was_cut_off(
    name: str, fraction: float, capfd: pytest.CaptureFixture[str]
) -> None:
    check_readable(failure(truncated(OTHERS[name], fraction)))
    assert capfd.readouterr() == ("", "")


@NEEDS_LIBJPEG
def test_end_marker() -> None:
    for file in (JPEGS["sequential"], JPEGS["grey"]):
        expected = decode_one(file)
        for changed in (file[:-2] + bytes(20), file + b"something else"):
            np.testing.assert_array_equal(decode_one(changed), expected)


@NEEDS_LIBJPEG
def test_bad_file_is_named_and_the_next_batch_follows() -> None:
    batches = iter([[JPEGS["grey"], truncated(JPEGS["sequential"], 0.5)], [JPEGS["grey"]] * 2])
    with pipeline(batch_size=2, prefetch_queue_depth=1) as made:
        with made:
            data = fn.external_source(
                source=lambda: [np.frombuffer(file, np.uint8) for file in next(batches)]
            )
            made.set_outputs(fn.decoders.image(data))
        with pytest.raises(SampleError, match="premature end of file") as caught:
            made.run()
        assert (caught.value.sample, caught.value.iteration) == (1, 0)
        assert __file__ in caught.value.location
        assert len(made.run()[0]) == 2


# Damage within


@NEEDS_LIBJPEG
@pytest.mark.parametrize("name", JPEGS)
def test_changed_bytes_of_jpeg(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    outcomes = {"decoded": 0, "refused": 0}
    for seed in range(60):
        file = mutated(JPEGS[name], seed, 1 + seed % 12)
        try:
            assert decode_one(file).shape[2] == 3
            outcomes["decoded"] += 1
        except SampleError as error:
            check_readable(error.message)
            outcomes["refused"] += 1
    assert outcomes["refused"] > 0
    assert outcomes["decoded"] > 0
    assert capfd.readouterr() == ("", "")


@NEEDS_LIBJPEG
def test_damage_that_libjpeg_repairs_is_accepted() -> None:
    file = JPEGS["sequential"]
    decoded = decode([mutated(file, seed, 2, first=len(file) // 2) for seed in range(20)])
    rows = 14  # those of the first row of blocks that need no others
    for image in decoded:
        np.testing.assert_array_equal(image[:rows], decode_one(file)[:rows])


@NEEDS_LIBJPEG
def test_tables_of_the_image_before_are_not_used() -> None:
    # Motion JPEG files omit the tables, so the default ones are used.
    file = without_segments(JPEGS["sequential"], 0xC4)
    assert len(file) < len(JPEGS["sequential"]) - 400
    batches = iter([JPEGS["restarts"], file] * 2)
    expected = decode_one(JPEGS["sequential"])
    with pipeline(batch_size=1, num_threads=1) as made:
        with made:
            data = fn.external_source(source=lambda: [np.frombuffer(next(batches), np.uint8)])
            made.set_outputs(fn.decoders.image(data))
        made.run()
        np.testing.assert_array_equal(np.array(made.run()[0].at(0)), expected)


@NEEDS_LIBJPEG
@pytest.mark.parametrize("count", range(1, 9))
def test_windows_of_unfinished_progressive_files(count: int) -> None:
    # Blocks that miss details are smoothed by their neighbours.
    file = without_last_scans(jpeg(photo_like(96, 330), progressive=True), count)
    whole = decode_one(file)
    part = decode_one(file, "image_slice", start=[131, 20], end=[150, 40])
    np.testing.assert_array_equal(part, whole[20:40, 131:150])


@pytest.mark.parametrize("seed", range(8))
def test_changed_bytes_of_png(seed: int, capfd: pytest.CaptureFixture[str]) -> None:
    file = OTHERS["png"]
    message = failure(mutated(file, seed, 1, first=60))
    check_readable(message)
    assert "checksums" in message or "complete" in message
    assert capfd.readouterr() == ("", "")


def test_damage_in_unused_parts_of_png_is_accepted() -> None:
    text = b"tEXtComment\0something"
    chunk = struct.pack(">I", len(text) - 4) + text + struct.pack(">I", zlib.crc32(text) ^ 1)
    file = OTHERS["png"]
    np.testing.assert_array_equal(decode_one(file[:33] + chunk + file[33:]), PHOTO)


def with_texts(kind: bytes, sizes: list[int]) -> bytes:
    """Make a PNG file with texts that inflate to so many bytes."""
    head = {b"zTXt": b"a\0\0", b"iTXt": b"a\0\1\0\0\0"}[kind]
    chunks = {size: kind + head + zlib.compress(bytes(size)) for size in set(sizes)}
    texts = {
        size: struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
        for size, chunk in chunks.items()
    }
    return OTHERS["png"][:33] + b"".join(texts[size] for size in sizes) + OTHERS["png"][33:]


@pytest.mark.parametrize("kind", [b"zTXt", b"iTXt"])
def test_png_whose_texts_cost_time(kind: bytes) -> None:
    message = failure(with_texts(kind, [7_900_000] * 40))
    check_readable(message)
    assert "inflate to at most 256000000 bytes" in message
    for sizes in ([1000] * 100, [500_000, 3000]):
        np.testing.assert_array_equal(decode_one(with_texts(kind, sizes)), PHOTO)


# Dimensions


@NEEDS_LIBJPEG
@pytest.mark.parametrize(
    ("height", "width"), [(65500, 65500), (20000, 30000), (65500, 300), (300, 65500)]
)
@pytest.mark.parametrize("name", ["sequential", "progressive"])
def test_jpeg_too_short_for_its_size(name: str, height: int, width: int) -> None:
    message = failure(with_jpeg_size(JPEGS[name], height, width))
    check_readable(message)
    assert str(width) in message


@pytest.mark.parametrize(
    ("height", "width"), [(2**31 - 1, 2**31 - 1), (2**20, 2**11), (2**16, 2**12)]
)
def test_png_of_hostile_size(height: int, width: int) -> None:
    file = bytearray(OTHERS["png"])
    struct.pack_into(">II", file, 16, width, height)
    struct.pack_into(">I", file, 29, zlib.crc32(file[12:29]))
    message = failure(bytes(file))
    check_readable(message)
    assert str(height) in message


@NEEDS_LIBJPEG
@pytest.mark.parametrize("size", [(0, 96), (64, 0), (0, 0)])
def test_no_pixels(size: tuple[int, int]) -> None:
    check_readable(failure(with_jpeg_size(JPEGS["sequential"], *size)))


@NEEDS_LIBJPEG
def test_endless_scans() -> None:
    scan_at = JPEGS["progressive"].index(b"\xff\xda")
    second = JPEGS["progressive"].index(b"\xff\xda", scan_at + 2)
    third = JPEGS["progressive"].index(b"\xff\xda", second + 2)
    scan = JPEGS["progressive"][second:third]
    file = JPEGS["progressive"][:third] + scan * 600 + b"\xff\xd9"
    assert "500 scans" in failure(file)
