"""JPEG files whose scans cost more time than their pixels and bytes justify."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core.errors import SampleError
from tests.generated_images import jpeg, photo_like, sampled_jpeg, with_jpeg_size
from tests.jpeg_scans import FlatImage, scan_header, write_scans
from tests.operators.decoders.decoding import JPEG_LIBRARIES, decode_one, failure, use_jpeg_library

# The documented limit of fn.decoders.image.
MAX_SCANS = 500


def most_visits(image: FlatImage, file: bytes) -> int:
    blocks = sum(image.blocks(number) for number in range(len(image.sampling)))
    return 2**20 + 20 * blocks + 8 * len(file)


def visits(image: FlatImage, components: list[int]) -> int:
    return image.blocks_together() + sum(image.blocks(number) for number in components)


@pytest.fixture(params=JPEG_LIBRARIES)
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    name = str(request.param)
    use_jpeg_library(name, monkeypatch)
    return name


# Extents that are and are not whole blocks and groups of them.
IMAGES = {
    "grey": FlatImage(640, 800),
    "444": FlatImage(401, 403, [(1, 1)] * 3),
    "420": FlatImage(497, 401, [(2, 2), (1, 1), (1, 1)]),
    "410": FlatImage(333, 777, [(4, 2), (1, 1), (1, 1)]),
    "mixed": FlatImage(501, 411, [(2, 2), (2, 1), (1, 2)]),
}


@pytest.mark.parametrize("name", IMAGES)
def test_one_scan_more_than_allowed(name: str, library: str) -> None:
    image = IMAGES[name]
    components: list[int] = []
    while visits(image, components) <= most_visits(image, write_scans(image, components)):
        components.append(0)
    assert 150 < len(components) < MAX_SCANS
    file = write_scans(image, components)
    message = failure(file)
    assert f"at most {most_visits(image, file)} times" in message
    assert f"more with scan {len(components) + 1}" in message
    assert message.endswith("save it anew.")
    allowed = decode_one(write_scans(image, components[:-1]))
    np.testing.assert_array_equal(allowed, np.full((image.height, image.width, 3), 128))


def test_large_image_of_many_scans(library: str) -> None:
    """200 kB that would take half a minute."""
    image = FlatImage(8000, 8000)
    file = write_scans(image, [0] * (MAX_SCANS - 1))
    assert len(file) < 210_000
    for operator in ("image", "image_crop", "image_random_crop"):
        assert "the scans of a JPEG file must" in failure(file, operator)


def test_usual_numbers_of_scans(library: str) -> None:
    for image in (FlatImage(1024, 1024), FlatImage(600, 700, [(1, 1)] * 3)):
        rounds = 15 if len(image.sampling) == 1 else 5
        file = write_scans(image, [*range(len(image.sampling))] * rounds)
        assert decode_one(file).shape == (image.height, image.width, 3)
    small = FlatImage(70, 90)
    assert decode_one(write_scans(small, [0] * (MAX_SCANS - 1))).shape == (70, 90, 3)
    assert f"at most {MAX_SCANS} scans" in failure(write_scans(small, [0] * MAX_SCANS))


def test_scans_behind_the_last_that_counts(library: str) -> None:
    # The first scan of a sequential file may contain everything, and no other is decoded.
    file = jpeg(photo_like(64, 96))
    longer = file[:-2] + scan_header([0], 0, 63) * 1000 + b"\xff\xd9"
    np.testing.assert_array_equal(decode_one(longer), decode_one(file))
    # Nor is one after the end of the image.
    image = FlatImage(64, 96)
    assert decode_one(write_scans(image, [0]) + scan_header([0], 1, 63) * 1000).shape == (64, 96, 3)


def test_repeated_scans_of_sequential_files(library: str) -> None:
    file = sampled_jpeg(64, 96, "420", interleaved=False)
    scan = file[file.rindex(b"\xff\xda") : -2]
    # One of everything ends a file only where it comes first.
    for before in (b"", scan_header([0, 1, 2], 0, 63)):
        longer = file[:-2] + before + scan * MAX_SCANS + b"\xff\xd9"
        assert f"at most {MAX_SCANS} scans" in failure(longer)


@pytest.mark.parametrize(
    "before",
    [
        b"\xff\x02\xff\xff",
        b"\xff\x00\xff\xff\xff",
        b"\xff\xd3\xff\xff",
        b"\xff\xfe\x00\x07abc\xff\xd9",
        b"\xff\xe5\x00\x00",
        b"\xff\xe5\x00\x01",
    ],
    ids=["reserved", "stuffing and filling", "restart", "end in a comment", "length 0", "length 1"],
)
def test_scans_cannot_hide(before: bytes, library: str) -> None:
    file = write_scans(FlatImage(70, 90), [0] * MAX_SCANS, before=before)
    assert f"at most {MAX_SCANS} scans" in failure(file)


@pytest.mark.parametrize("size", [(65500, 65500), (20000, 30000), (300, 65500)])
def test_too_short_for_its_size(size: tuple[int, int], library: str) -> None:
    message = failure(with_jpeg_size(jpeg(photo_like(64, 96), progressive=True), *size))
    assert f"{size[0]} x {size[1]}" in message


def test_damaged_frame_headers(library: str) -> None:
    file = jpeg(photo_like(64, 96))
    frame = file.index(b"\xff\xc0")
    for place, value in ((frame + 9, 200), (frame + 11, 0), (frame + 3, 6), (frame + 3, 255)):
        assert " must " in failure(file[:place] + bytes([value]) + file[place + 1 :])


def folder_of(tmp_path: Path, files: dict[str, bytes]) -> Path:
    (tmp_path / "a").mkdir()
    for name, content in files.items():
        (tmp_path / "a" / name).write_bytes(content)
    return tmp_path


@pytest.fixture
def reading(tmp_path: Path) -> Iterator[Pipeline]:
    image = FlatImage(4000, 4000)
    files = {
        "0.jpg": jpeg(photo_like(20, 30)),
        "1.jpg": write_scans(image, [0] * 100),
        "2.jpg": jpeg(photo_like(40, 50)),
    }
    with Pipeline(3, 2, None, on_sample_error="replace", max_bad_samples=1.0) as pipeline:
        data, _ = fn.readers.file(file_root=folder_of(tmp_path, files))
        pipeline.set_outputs(fn.decoders.image(data), fn.peek_image_shape(data))
    yield pipeline
    pipeline.close()


def test_file_is_named_and_another_takes_its_place(reading: Pipeline, library: str) -> None:
    images, shapes = reading.run()
    assert [images.at(i).shape for i in range(3)] == [(20, 30, 3), (40, 50, 3), (40, 50, 3)]
    assert [shapes.at(i).tolist() for i in range(3)] == [[20, 30, 3], [40, 50, 3], [40, 50, 3]]
    (bad,) = reading.bad_samples
    assert bad.source == str(Path("a", "1.jpg"))
    assert re.search(r"at most \d+ times", bad.message)


def test_shape_of_a_file_that_is_not_worth_decoding() -> None:
    # Reading the header costs nothing, and the size is checked as for decoding.
    def shape(file: bytes) -> list[int]:
        with Pipeline(1, 1, None) as pipeline:
            data = fn.external_source(lambda: [np.frombuffer(file, np.uint8)])
            pipeline.set_outputs(fn.peek_image_shape(data))
        (batch,) = pipeline.run()
        pipeline.close()
        return [int(extent) for extent in batch.at(0)]

    assert shape(write_scans(FlatImage(3000, 2000), [0] * 100)) == [3000, 2000, 3]
    for size in ((65500, 65500), (0, 5)):
        with pytest.raises(SampleError, match=f"got {size[0]} x {size[1]}"):
            shape(with_jpeg_size(jpeg(photo_like(8, 8)), *size))
