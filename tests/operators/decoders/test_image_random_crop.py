"""decoders.image_random_crop: a window of the decoded image, bit for bit."""

from __future__ import annotations

from functools import cache
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
    pnm,
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

SEED = 7
SIZES = ((37, 53), (130, 201), (17, 300), (250, 33), (3, 5), (1, 70), (16, 16))

EXAMPLES = [
    file_examples([jpeg(photo_like(30 + 9 * i, 61 - 5 * i, 3, i)) for i in range(4)]),
    file_examples(
        [png(photo_like(40, 50)), with_orientation(jpeg(photo_like(40, 50)), 8)],
        random_area=[0.2, 0.5],
        random_aspect_ratio=[0.5, 2.0],
        num_attempts=3,
        dtype=types.FLOAT,
        seed=3,
    ),
]


@pytest.fixture(params=JPEG_LIBRARIES)
def jpeg_library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    use_jpeg_library(request.param, monkeypatch)
    return str(request.param)


@cache
def coordinates(height: int, width: int) -> bytes:
    """Return an image file in which each pixel encodes its position."""
    y, x = np.mgrid[0:height, 0:width].astype(np.uint16)
    return png(np.stack([y, x, np.zeros_like(x)], axis=2))


def crop_windows(sizes: list[tuple[int, int]], **arguments: Any) -> list[tuple[slice, slice]]:
    """Return the windows for an image of each size in a batch."""
    places = decode(
        [coordinates(*size) for size in sizes],
        "image_random_crop",
        dtype=types.UINT16,
        seed=SEED,
        **arguments,
    )
    windows = []
    for place in places:
        rows, columns = place[:, 0, 0].astype(int), place[0, :, 1].astype(int)
        assert np.array_equal(np.diff(rows), np.ones(len(rows) - 1))
        assert np.array_equal(np.diff(columns), np.ones(len(columns) - 1))
        windows.append((slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)))
    return windows


def check_windows(files: list[bytes], repeat: int, **arguments: Any) -> None:
    """The windows of files equal slices of the decoded images."""
    whole = decode(files, **arguments)
    shape = {"random_area": [0.001, 1.0], "random_aspect_ratio": [0.1, 10.0]}
    windows = crop_windows([image.shape[:2] for image in whole] * repeat, **shape)
    parts = decode(files * repeat, "image_random_crop", seed=SEED, **shape, **arguments)
    for number, (part, window) in enumerate(zip(parts, windows, strict=True)):
        np.testing.assert_array_equal(part, whole[number % len(files)][window], strict=True)


@pytest.mark.usefixtures("jpeg_library")
@pytest.mark.parametrize("progressive", [False, True], ids=["sequential", "progressive"])
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_window_of_jpeg_equals_slice(sampling: str, progressive: bool) -> None:
    files = [sampled_jpeg(*size, sampling, progressive=progressive) for size in SIZES]
    check_windows(files, 12)


@pytest.mark.usefixtures("jpeg_library")
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_window_with_other_scans_equals_slice(sampling: str) -> None:
    files = [sampled_jpeg(*size, sampling, interleaved=False) for size in SIZES]
    files += [sampled_jpeg(*size, sampling, restart_interval=3) for size in SIZES]
    check_windows(files, 6)


@pytest.mark.usefixtures("jpeg_library")
@pytest.mark.parametrize("output_type", ["BGR", "GRAY", "YCbCr", "ANY_DATA"])
def test_window_in_other_colours_equals_slice(output_type: str) -> None:
    files = [jpeg(photo_like(*size)) for size in SIZES]
    files += [jpeg(photo_like(*size, 1)) for size in SIZES]
    files += [cmyk_jpeg(*size, transform=2, subsampled=True) for size in SIZES[:3]]
    check_windows(files, 4, output_type=getattr(types, output_type))


@pytest.mark.usefixtures("jpeg_library")
def test_window_of_turned_image_equals_slice() -> None:
    files = [with_orientation(jpeg(photo_like(57, 91)), value) for value in range(1, 9)]
    check_windows(files, 12)
    check_windows(files, 4, adjust_orientation=False)
    check_windows(files, 4, dtype=types.FLOAT, output_type=types.BGR)


def test_window_of_other_formats_equals_slice() -> None:
    image = photo_like(45, 60)
    files = [png(image), pnm(image), encode(image, "BMP"), encode(image, "TIFF")]
    files += [encode(image, "WEBP", quality=80), encode(image, "JPEG2000")]
    check_windows(files, 8)
    check_windows(files, 4, dtype=types.INT16, output_type=types.GRAY)


def test_window_follows_the_ranges() -> None:
    height, width = 150, 200
    windows = crop_windows(
        [(height, width)] * 200, random_area=[0.1, 0.3], random_aspect_ratio=[0.5, 2.0]
    )
    heights = np.array([rows.stop - rows.start for rows, _ in windows])
    widths = np.array([columns.stop - columns.start for _, columns in windows])
    shares = heights * widths / (height * width)
    assert shares.min() > 0.09
    assert shares.max() < 0.31
    assert shares.max() - shares.min() > 0.15
    ratios = widths / heights
    assert ratios.min() > 0.48
    assert ratios.max() < 2.1
    assert ratios.max() / ratios.min() > 2.5
    assert len({(rows.start, columns.start) for rows, columns in windows}) > 190


def test_window_depends_on_seed_and_epoch() -> None:
    sample = np.frombuffer(coordinates(100, 100), np.uint8)

    def first_two(seed: int) -> list[np.ndarray]:
        with pipeline(batch_size=1) as made:
            with made:
                data = fn.external_source(source=lambda: [sample])
                made.set_outputs(fn.decoders.image_random_crop(data, seed=seed, dtype=types.UINT16))
            return [np.array(made.run()[0].at(0)) for _ in range(2)]

    first, second = first_two(1)
    again, _ = first_two(1)
    other, _ = first_two(2)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, second)
    assert not np.array_equal(first, other)


def test_whole_image() -> None:
    file = jpeg(photo_like(41, 41))
    window = decode_one(
        file, "image_random_crop", random_area=[1.0, 1.0], random_aspect_ratio=[1.0, 1.0]
    )
    np.testing.assert_array_equal(window, decode_one(file))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"random_area": [0.5, 0.1]}, "random_area must be a range that is not empty"),
        ({"random_area": [-1.0, 1.0]}, "'random_area', entry 0 must be at least 0"),
        ({"random_aspect_ratio": [0.0, 1.0]}, "'random_aspect_ratio', entry 0 must be above 0"),
    ],
)
def test_invalid_ranges(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        decode([jpeg(photo_like(9, 9))], "image_random_crop", **arguments)


@pytest.mark.usefixtures("jpeg_library")
def test_cut_off_file_fails_wherever_the_window_is() -> None:
    file = jpeg(photo_like(200, 200))
    for seed in range(8):
        message = failure(file[:-200], "image_random_crop", random_area=[0.01, 0.02], seed=seed)
        assert "damaged" in message
