"""Bulging images like a sphere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import Example, images, numbers, run_on, shares_memory
from tests.operators.warping import OTHER_TYPES, WARP_TYPES, check_warped, linear, nearest

LINEAR = types.INTERP_LINEAR
EXAMPLES = [
    Example("bytes", [images()], {"mask": 1}),
    Example("linear", [images()], {"interp_type": LINEAR, "fill_value": 42.0}),
    Example("float", [images("HWC", "float32", extents={"C": 4})], {"interp_type": LINEAR}),
    Example("nothing", [images()], {"mask": 0}),
]


def sphere(image: np.ndarray, layout: str = "HWC", **arguments: Any) -> np.ndarray:
    return run_on("sphere", [image], layout, **arguments)[0]


def coordinates(height: int, width: int) -> np.ndarray:
    centre = np.array([width, height]) / 2
    pixels = np.stack(np.meshgrid(np.arange(width), np.arange(height)), -1) + 0.5 - centre
    distance = np.linalg.norm(pixels, axis=-1, keepdims=True)
    return centre + pixels * distance / (max(width, height) // 2)


@pytest.mark.parametrize("dtype", WARP_TYPES)
@pytest.mark.parametrize("fill", [0.0, 200.0])
def test_images(dtype: str, fill: float) -> None:
    for shape in ((37, 41, 3), (300, 7, 1), (1, 2, 2)):
        image = numbers("uint8", shape, 1).astype(dtype)
        sources = coordinates(*shape[:2])
        result = sphere(image, fill_value=fill, interp_type=LINEAR)
        check_warped(result, linear(image, sources, fill), dtype)
        result = sphere(image, fill_value=fill)
        same = (result == nearest(image, sources, fill)).all(-1)
        # Coordinates between two pixels may be rounded to either.
        between = np.abs(np.mod(sources + 0.5, 1) - 0.5).min(-1) < 1e-4
        assert (same | between).all()
        assert same.mean() > 0.9


def test_single_pixel() -> None:
    # Its distance is no multiple of a radius of 0.
    assert sphere(np.full((1, 1, 1), 9, np.uint8), fill_value=5).item() == 5


def test_mask() -> None:
    image = numbers("uint8", (9, 8, 3), 0)
    np.testing.assert_array_equal(sphere(image, mask=0), image)
    assert (sphere(image) != image).any()
    assert shares_memory("sphere", mask=0)
    assert not shares_memory("sphere", mask=1)


def test_empty_images() -> None:
    assert sphere(np.zeros((0, 5, 3), np.uint8)).shape == (0, 5, 3)
    assert sphere(np.zeros((4, 5, 0), np.uint8)).shape == (4, 5, 0)


@pytest.mark.parametrize("layout", ["CHW", "HW", "FCHW", "DHWC"])
def test_other_layouts(layout: str) -> None:
    with pytest.raises(SampleError, match="the input's layout must be"):
        sphere(np.zeros([3] * len(layout), np.uint8), layout)


@pytest.mark.parametrize("dtype", OTHER_TYPES)
def test_other_types(dtype: str) -> None:
    with pytest.raises(SampleError, match=r"images must have type .* \(got "):
        sphere(np.zeros((2, 2, 3), dtype))


def test_other_interpolations() -> None:
    with pytest.raises(ArgumentValueError, match="'interp_type' must be INTERP_NN or"):
        sphere(np.zeros((2, 2, 3), np.uint8), interp_type=types.INTERP_CUBIC)
