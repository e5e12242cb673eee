"""decoders.image_crop: bitwise identical to cropping the decoded image."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import fn, types
from dali_core.errors import ArgumentValueError
from tests.generated_images import (
    SAMPLINGS,
    cmyk_jpeg,
    encode,
    jpeg,
    photo_like,
    png,
    sampled_jpeg,
    with_orientation,
)
from tests.operators.decoders.decoding import (
    JPEG_LIBRARIES,
    decode,
    decode_one,
    failure,
    file_examples,
    use_jpeg_library,
)
from tests.operators.suite import pipeline

FILES = [
    *(jpeg(photo_like(30 + 9 * i, 61 - 5 * i, 3, i)) for i in range(3)),
    with_orientation(jpeg(photo_like(40, 50)), 6),
    png(photo_like(33, 20)),
]

EXAMPLES = [
    file_examples(FILES, crop=(11, 7)),
    file_examples(
        FILES,
        crop_h=9,
        crop_w=15.0,
        crop_d=2,
        crop_pos_x=0.25,
        crop_pos_y=1.0,
        crop_pos_z=0.0,
        rounding="truncate",
        dtype=types.FLOAT,
    ),
]


@pytest.fixture(params=JPEG_LIBRARIES)
def jpeg_library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    use_jpeg_library(request.param, monkeypatch)
    return str(request.param)


def decode_then_crop(
    files: list[bytes], crop: dict[str, Any], **arguments: Any
) -> list[np.ndarray]:
    samples = [np.frombuffer(file, np.uint8) for file in files]
    with pipeline(batch_size=len(samples)) as made:
        with made:
            data = fn.external_source(source=lambda: samples)
            made.set_outputs(fn.crop(fn.decoders.image(data, **arguments), **crop))
        (batch,) = made.run()
        return [np.array(batch.at(i)) for i in range(len(samples))]


def check(files: list[bytes], crop: dict[str, Any], **arguments: Any) -> None:
    windows = decode(files, "image_crop", **crop, **arguments)
    expected = decode_then_crop(files, crop, **arguments)
    for window, theirs in zip(windows, expected, strict=True):
        np.testing.assert_array_equal(window, theirs, strict=True)


@pytest.mark.usefixtures("jpeg_library")
@pytest.mark.parametrize(
    "crop",
    [
        {},
        {"crop": (9, 14)},
        {"crop": (1, 1), "crop_pos_x": 1.0, "crop_pos_y": 0.0},
        {"crop": (0, 5), "crop_pos_x": 0.37},
        {"crop": (2, 9, 14), "crop_pos_y": 0.83},
        {"crop_h": 12.9, "crop_w": 8, "rounding": "truncate", "crop_pos_x": 0.99},
    ],
)
def test_windows(crop: dict[str, Any]) -> None:
    check(FILES, crop)


@pytest.mark.usefixtures("jpeg_library")
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_samplings(sampling: str) -> None:
    files = [
        sampled_jpeg(37, 53, sampling),
        sampled_jpeg(130, 61, sampling, progressive=True),
        sampled_jpeg(45, 70, sampling, restart_interval=3),
    ]
    for position in (0.0, 0.3, 0.71, 1.0):
        check(files, {"crop": (17, 23), "crop_pos_x": position, "crop_pos_y": 1 - position})


@pytest.mark.usefixtures("jpeg_library")
@pytest.mark.parametrize("value", range(1, 9))
def test_turned_images(value: int) -> None:
    files = [with_orientation(jpeg(photo_like(57, 91)), value)]
    crop = {"crop": (31, 22), "crop_pos_x": 0.2, "crop_pos_y": 0.9}
    check(files, crop)
    check(files, crop, adjust_orientation=False)


@pytest.mark.parametrize("output_type", ["BGR", "GRAY", "YCbCr", "ANY_DATA"])
def test_other_colours_and_formats(output_type: str) -> None:
    image = photo_like(45, 60)
    files = [jpeg(image), cmyk_jpeg(45, 60), png(image), encode(image, "BMP")]
    files += [encode(image, "TIFF"), encode(image, "WEBP", lossless=True)]
    crop = {"crop": (20, 33), "crop_pos_x": 0.1}
    check(files, crop, output_type=getattr(types, output_type))
    check(files, crop, output_type=getattr(types, output_type), dtype=types.INT16)


def test_window_of_each_sample() -> None:
    positions = [np.float32(0.2 * number) for number in range(len(FILES))]
    samples = [np.frombuffer(file, np.uint8) for file in FILES]
    with pipeline(batch_size=len(samples)) as made:
        with made:
            data = fn.external_source(source=lambda: samples)
            position = fn.external_source(source=lambda: positions)
            made.set_outputs(fn.decoders.image_crop(data, crop=(5, 8), crop_pos_x=position))
        (batch,) = made.run()
        windows = [np.array(batch.at(i)) for i in range(len(samples))]
    for file, position, window in zip(FILES, positions, windows, strict=True):
        expected = decode_one(file, "image_crop", crop=(5, 8), crop_pos_x=float(position))
        np.testing.assert_array_equal(window, expected)


@pytest.mark.usefixtures("jpeg_library")
def test_window_that_does_not_fit() -> None:
    for file in (jpeg(photo_like(20, 30)), png(photo_like(20, 30))):
        message = failure(file, "image_crop", crop=(21, 5))
        assert "the region must lie inside the image of 20 x 30 (got 21 x 5" in message
    with pytest.raises(ArgumentValueError, match="'crop_pos_x' must be from 0 to 1"):
        decode(FILES, "image_crop", crop=(2, 2), crop_pos_x=1.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"crop": 5}, "crop must be"),
        ({"crop_h": 5}, "crop_w and crop_h must be given together"),
        ({"crop": (5, 5), "crop_w": 1, "crop_h": 1}, "'crop' must not be given together"),
        ({"crop": (5, 5), "rounding": "up"}, "'rounding' must be"),
    ],
)
def test_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        decode(FILES, "image_crop", **arguments)
