"""Random windows for images of given shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import fn
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import INTEGERS, Example, Input, pipeline

EXAMPLES = [
    Example("shapes", [Input(lambda number: np.int64([20 + number, 30, 3]))]),
    Example(
        "ranges",
        [Input(lambda number: np.int32([200, 30 + number]))],
        {"random_area": (0.2, 0.3), "random_aspect_ratio": (0.5, 2.0), "num_attempts": 4},
    ),
]


def windows(shape: Any, count: int = 2000, **arguments: Any) -> np.ndarray:
    """Draw windows as (y, x, height, width)."""
    shapes = [np.asarray(shape)] * count
    with pipeline(batch_size=count) as made:
        with made:
            data = fn.external_source(source=lambda: shapes)
            made.set_outputs(*fn.random_crop_generator(data, **arguments))
        starts, extents = made.run()
        assert starts.dtype.name == extents.dtype.name == "INT32"
        assert starts.layout() == extents.layout() == ""
        return np.concatenate([starts.as_array(), extents.as_array()], axis=1)


def test_windows_lie_inside_and_follow_the_ranges() -> None:
    height, width = 150, 200
    y, x, heights, widths = windows(
        (height, width, 3), random_area=(0.1, 0.3), random_aspect_ratio=(0.5, 2.0)
    ).T
    assert y.min() >= 0
    assert x.min() >= 0
    assert (y + heights).max() <= height
    assert (x + widths).max() <= width
    shares = heights * widths / (height * width)
    assert 0.095 < shares.min() < 0.105
    assert 0.295 < shares.max() < 0.305
    assert abs(shares.mean() - 0.2) < 0.01
    logarithms = np.log(widths / heights)
    assert abs(logarithms.mean()) < 0.06
    assert logarithms.min() < -0.65
    assert logarithms.max() > 0.65


def test_positions_are_uniform() -> None:
    y, x, heights, widths = windows((300, 300), random_area=(0.1, 0.3)).T
    for start, extent in ((y, heights), (x, widths)):
        relative = start / (300 - extent)
        counts, _ = np.histogram(relative, 10, (0, 1))
        assert ((counts - 200) ** 2 / 200).sum() < 27.9  # 9 degrees of freedom, level 0.001


def test_fallback() -> None:
    drawn = windows((10, 1000), count=20)
    assert (drawn[:, 2:] == (10, 13)).all()
    assert len(np.unique(drawn[:, 1])) > 15


def test_whole_image() -> None:
    drawn = windows((41, 41), 5, random_area=1.0, random_aspect_ratio=1.0)
    assert (drawn == (0, 0, 41, 41)).all()


@pytest.mark.parametrize("dtype", INTEGERS)
def test_types(dtype: str) -> None:
    expected = windows(np.array([60, 50], "int64"), 9)
    np.testing.assert_array_equal(windows(np.array([60, 50], dtype), 9), expected)


@pytest.mark.parametrize("shape", [(0, 5), (5, 0, 3), (-1, 5)])
def test_empty_images(shape: tuple[int, ...]) -> None:
    assert not windows(shape, 3).any()


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (np.float32([5, 5]), "the input must have an integer type"),
        ([True, True], "the input must have an integer type"),
        ([5], "the input must be \\(height, width\\)"),
        ([5, 5, 5, 3], "the input must be \\(height, width\\)"),
        ([[5, 5]], "the input must be \\(height, width\\)"),
        ([2**31, 5], "extents must be below"),
    ],
)
def test_invalid_shapes(shape: Any, message: str) -> None:
    with pytest.raises(SampleError, match=message):
        windows(shape, 1)


def test_invalid_ranges() -> None:
    with pytest.raises(ArgumentValueError, match="random_area must be a range"):
        windows((5, 5), 1, random_area=(0.5, 0.1))
