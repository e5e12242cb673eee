"""Cropping random windows of images and resizing them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dali_core import fn, types
from dali_core.errors import ArgumentTypeError, ArgumentValueError, SampleError
from tests.operators.suite import Example, images, numbers, pipeline, run_on

EXAMPLES = [
    Example("default", [images()], {"size": (8, 9)}),
    Example("sequence", [images("FCHW")], {"size": 6, "interp_type": types.INTERP_CUBIC}),
    Example(
        "narrow",
        [images("HWC", "float32")],
        {"size": (5, 4), "random_aspect_ratio": (0.2, 0.3), "antialias": False},
    ),
    Example(
        "filters",
        [images()],
        {"size": 20, "min_filter": types.INTERP_NN, "mag_filter": types.INTERP_LANCZOS3},
    ),
    Example("to_float", [images("CHW")], {"size": 7, "dtype": types.FLOAT, "num_attempts": 1}),
]


def windows(
    height: int, width: int, count: int = 400, pipeline_seed: int = 1, **arguments: Any
) -> np.ndarray:
    """Draw windows; return y, x, height and width of each."""
    # An image of coordinates: the borders of the result show the window.
    coordinates = np.stack(np.meshgrid(np.arange(height), np.arange(width), indexing="ij"), -1)
    image = coordinates.astype(np.float32)
    batch_size = math.gcd(count, 50)
    with pipeline(batch_size=batch_size, seed=pipeline_seed) as made:
        with made:
            data = fn.external_source(source=lambda: [image] * batch_size, layout="HWC")
            # The filter repeats the image's edge: between pixel centres it is linear.
            made.set_outputs(fn.random_resized_crop(data, size=2, antialias=False, **arguments))
        ends = np.concatenate([made.run()[0].as_array() for _ in range(count // batch_size)])
    extents = 2 * (ends[:, 1, 1] - ends[:, 0, 0])
    starts = ends[:, 0, 0] + 0.5 - extents / 4
    return np.concatenate([starts, extents], 1)


def test_windows_follow_area_and_aspect_ratio() -> None:
    found = windows(400, 400, 2000, random_area=(0.1, 0.3), random_aspect_ratio=(0.5, 2.0))
    area = found[:, 2] * found[:, 3] / 400**2
    ratio = np.log(found[:, 3] / found[:, 2])
    assert 0.099 < area.min() < 0.103
    assert 0.297 < area.max() < 0.301
    assert abs(area.mean() - 0.2) < 0.006
    # Logarithms of the aspect ratio are uniform: mean 0, standard deviation 2 ln 2 / sqrt(12).
    assert abs(ratio.mean()) < 0.04
    assert abs(ratio.std() - 0.4002) < 0.02
    assert np.abs(ratio).max() < np.log(2) + 0.01
    # Positions are uniform in the remaining range.
    position = found[:, :2] / (400 - found[:, 2:])
    assert np.abs(position.mean(axis=0) - 0.5).max() < 0.03
    assert np.abs(position.std(axis=0) - 1 / np.sqrt(12)).max() < 0.02
    assert np.abs(np.corrcoef(position.T)[0, 1]) < 0.1


def test_windows_lie_inside_the_image() -> None:
    for height, width in ((40, 300), (300, 40), (64, 64), (5, 7)):
        found = windows(height, width)
        np.testing.assert_allclose(found, np.round(found), atol=2e-3)
        assert found[:, :2].min() > -0.01
        assert (found[:, 0] + found[:, 2]).max() < height + 0.01
        assert (found[:, 1] + found[:, 3]).max() < width + 0.01


@pytest.mark.parametrize(
    ("height", "width", "ratio", "extent"),
    [
        (100, 100, (5, 5), (20, 100)),
        (100, 100, (0.2, 0.2), (100, 20)),
        (100, 1000, (2, 5), (100, 500)),
        (101, 1000, (0.3, 0.5), (101, 50)),
        (60, 90, (1, 2), (60, 90)),
    ],
)
def test_largest_window_where_no_attempt_fits(
    height: int, width: int, ratio: tuple[float, float], extent: tuple[int, int]
) -> None:
    for attempts in (0, 3):
        found = windows(
            height,
            width,
            60,
            random_area=(1.5, 1.5),
            random_aspect_ratio=ratio,
            num_attempts=attempts,
        )
        np.testing.assert_allclose(found[:, 2:], np.broadcast_to(extent, (60, 2)), atol=2e-3)
        free = np.subtract((height, width), extent)
        assert (np.ptp(found[:, :2], axis=0) > 0.7 * free - 0.01).all()


def test_more_attempts_find_smaller_windows_less_often() -> None:
    # Half of the first attempts do not fit; then the largest window is used.
    share = [
        np.mean(windows(150, 300, 1000, num_attempts=attempts)[:, 2] > 149.5)
        for attempts in (1, 10)
    ]
    assert 0.5 < share[0] < 0.6
    assert share[1] < 0.05


def test_same_as_resizing_the_region() -> None:
    image = numbers("uint8", (60, 80, 3), 0)
    with pipeline(batch_size=1) as made:
        with made:
            data = fn.external_source(source=lambda: [image], layout="HWC")
            everything = {"random_area": (1.0, 1.0), "random_aspect_ratio": (4 / 3, 4 / 3)}
            made.set_outputs(
                fn.random_resized_crop(data, size=(30, 50), num_attempts=0, **everything),
                fn.resize(data, size=(30, 50)),
            )
        cropped, resized = (np.array(batch.at(0)) for batch in made.run())
    np.testing.assert_array_equal(cropped, resized)


def test_frames_get_the_same_window() -> None:
    frame = numbers("uint8", (30, 40, 3), 0)
    frames = run_on("random_resized_crop", [np.stack([frame] * 4)], "FHWC", size=9)[0]
    assert frames.shape == (4, 9, 9, 3)
    assert (frames == frames[0]).all()


def test_seeds() -> None:
    first, again, other = (windows(90, 90, 50, pipeline_seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any(axis=1).mean() > 0.9
    fixed = [windows(90, 90, 50, pipeline_seed=seed, seed=7) for seed in (1, 2)]
    np.testing.assert_array_equal(*fixed)
    assert (first != fixed[0]).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": (1, 2, 3)}, "'size' must have 1 or 2 numbers"),
        ({"size": (-3, 4)}, r"'size', entry 0 must be from 0 .*got -3"),
        ({"size": 3, "random_area": (0.9, 0.1)}, "random_area must be a range that is not empty"),
        ({"size": 3, "random_area": (-0.5, 0.1)}, "'random_area', entry 0 must be at least 0"),
        (
            {"size": 3, "random_area": (0.1, 0.2, 0.3)},
            r"'random_area' must have 1 or 2 numbers \(got 3\)",
        ),
        (
            {"size": 3, "random_aspect_ratio": (0.0, 1.0)},
            "'random_aspect_ratio', entry 0 must be above 0",
        ),
    ],
    ids=str,
)
def test_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        run_on("random_resized_crop", [np.zeros((4, 4, 1), np.uint8)], "HWC", **arguments)


def test_size_is_required() -> None:
    with pytest.raises(ArgumentTypeError, match="size"):
        run_on("random_resized_crop", [np.zeros((4, 4, 1), np.uint8)], "HWC")


@pytest.mark.parametrize(
    ("layout", "shape", "message"),
    [
        ("HWC", (0, 4, 1), "at least one pixel"),
        ("DHWC", (2, 4, 4, 1), "layout must be HWC"),
    ],
)
def test_invalid_samples(layout: str, shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        run_on("random_resized_crop", [np.zeros(shape, np.uint8)], layout, size=3)
