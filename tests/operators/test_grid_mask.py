"""Zeroing the squares of a grid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import ALL_TYPES, Example, images, numbers, run_on, shares_memory

EXAMPLES = [
    Example(
        "turned",
        [images()],
        {"tile": 7, "ratio": 0.4, "angle": 0.5, "shift_x": 2.5, "shift_y": -3.0},
    ),
    Example("planes", [images("CHW", "float32")], {"tile": 4}),
    Example("frames", [images("FHWC", "int16")], {"tile": 5, "angle": -2.0}),
]


def masked(image: np.ndarray, layout: str = "HWC", **arguments: Any) -> np.ndarray:
    return run_on("grid_mask", [image], layout, **arguments)[0]


def grid(height: int, width: int, tile: int, ratio: float, angle: float = 0.0) -> np.ndarray:
    y, x = np.mgrid[0:height, 0:width]
    u = (x * np.cos(angle) - y * np.sin(angle)) / tile
    v = (x * np.sin(angle) + y * np.cos(angle)) / tile
    return (u - np.floor(u) < ratio) & (v - np.floor(v) < ratio)


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_types(dtype: str) -> None:
    image = numbers(dtype, (20, 30, 3), 0)
    expected = np.where(grid(20, 30, 8, 0.4)[..., None], np.zeros((), dtype), image)
    np.testing.assert_array_equal(masked(image, tile=8, ratio=0.4), expected, strict=True)


@pytest.mark.parametrize("layout", ["HW", "HWC", "CHW", "WHC", "FHWC", "FCHW", "HCW", "DHWC", "WH"])
def test_layouts(layout: str) -> None:
    extents = {"H": 17, "W": 23}
    image = numbers("uint8", [extents.get(letter, 2) for letter in layout], 0) | 1
    squares = grid(17, 23, 6, 0.5, 0.3)
    if layout.find("W") < layout.find("H"):
        squares = squares.T
    squares = squares.reshape([extents.get(letter, 1) for letter in layout])
    np.testing.assert_array_equal(
        masked(image, layout, tile=6, angle=0.3), np.where(squares, 0, image)
    )


@pytest.mark.parametrize(
    ("layout", "shape"), [("", (9, 8, 3)), ("", (2, 9, 8, 3)), ("XYZ", (9, 8, 3))]
)
def test_without_height_and_width(layout: str, shape: tuple[int, ...]) -> None:
    result = masked(np.ones(shape, np.uint8), layout, tile=4)
    squares = grid(9, 8, 4, 0.5)[..., None]
    np.testing.assert_array_equal(result, np.broadcast_to(~squares, shape))


def test_shift() -> None:
    result = masked(np.ones((6, 6, 1), np.uint8), tile=3, ratio=0.3, shift_x=1.0, shift_y=-1.0)
    assert np.argwhere(result[..., 0] == 0).tolist() == [[2, 1], [2, 4], [5, 1], [5, 4]]


def test_extreme_ratios() -> None:
    assert shares_memory("grid_mask", ratio=0.0)
    assert shares_memory("grid_mask", ratio=-1.0)
    assert not masked(np.ones((9, 9, 3)), tile=4, ratio=1.0).any()
    assert masked(np.ones((0, 9, 3)), tile=4).shape == (0, 9, 3)


def test_errors() -> None:
    with pytest.raises(ArgumentValueError, match="'tile' must be at least 1"):
        masked(np.ones((2, 2, 3)), tile=0)
    with pytest.raises(SampleError, match="the input must have at least two dimensions"):
        masked(np.ones(5), "")
