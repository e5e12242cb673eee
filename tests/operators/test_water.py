"""Moving images like water."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import Example, images, numbers, run_on, shares_memory
from tests.operators.warping import OTHER_TYPES, WARP_TYPES, check_warped, linear, nearest

LINEAR = types.INTERP_LINEAR
WAVES = {
    "ampl_x": 3.0,
    "ampl_y": 2.0,
    "freq_x": 0.3,
    "freq_y": 0.2,
    "phase_x": 0.5,
    "phase_y": -0.7,
}
EXAMPLES = [
    Example("bytes", [images()], {"mask": 1}),
    Example("linear", [images()], {"interp_type": LINEAR, "fill_value": 42.0, **WAVES}),
    Example("float", [images("HWC", "float32", extents={"C": 4})], {"interp_type": LINEAR}),
    Example("nothing", [images()], {"mask": 0}),
]


def water(image: np.ndarray, layout: str = "HWC", **arguments: Any) -> np.ndarray:
    return run_on("water", [image], layout, **arguments)[0]


def coordinates(
    height: int,
    width: int,
    ampl_x: float = 10,
    ampl_y: float = 10,
    freq_x: float = 0.049087,
    freq_y: float = 0.049087,
    phase_x: float = 0,
    phase_y: float = 0,
) -> np.ndarray:
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    return np.stack(
        [
            x + ampl_x * np.sin(freq_x * y + phase_x),
            y + ampl_y * np.cos(freq_y * x + phase_y),
        ],
        -1,
    )


@pytest.mark.parametrize("dtype", WARP_TYPES)
@pytest.mark.parametrize("waves", [{}, WAVES])
def test_images(dtype: str, waves: dict[str, float]) -> None:
    for shape in ((37, 41, 3), (11, 300, 1), (1, 1, 2)):
        image = numbers("uint8", shape, 1).astype(dtype)
        sources = coordinates(*shape[:2], **waves)
        result = water(image, fill_value=9.0, interp_type=LINEAR, **waves)
        check_warped(result, linear(image, sources, 9.0), dtype)
        result = water(image, fill_value=9.0, **waves)
        same = (result == nearest(image, sources, 9.0)).all(-1)
        # Coordinates between two pixels may be rounded to either.
        between = np.abs(np.mod(sources + 0.5, 1) - 0.5).min(-1) < 1e-4
        assert (same | between).all()


def test_without_waves() -> None:
    image = numbers("uint8", (9, 8, 3), 0)
    np.testing.assert_array_equal(water(image, ampl_x=0, ampl_y=0), image)


def test_mask() -> None:
    image = numbers("uint8", (9, 8, 3), 0)
    np.testing.assert_array_equal(water(image, mask=0), image)
    assert (water(image) != image).any()
    assert shares_memory("water", mask=0)
    assert not shares_memory("water", mask=1)


def test_empty_images() -> None:
    assert water(np.zeros((0, 5, 3), np.uint8)).shape == (0, 5, 3)
    assert water(np.zeros((4, 5, 0), np.uint8)).shape == (4, 5, 0)


@pytest.mark.parametrize("layout", ["CHW", "HW", "FCHW", "DHWC"])
def test_other_layouts(layout: str) -> None:
    with pytest.raises(SampleError, match="the input's layout must be"):
        water(np.zeros([3] * len(layout), np.uint8), layout)


@pytest.mark.parametrize("dtype", OTHER_TYPES)
def test_other_types(dtype: str) -> None:
    with pytest.raises(SampleError, match=r"images must have type .* \(got "):
        water(np.zeros((2, 2, 3), dtype))


def test_other_interpolations() -> None:
    with pytest.raises(ArgumentValueError, match="'interp_type' must be INTERP_NN or"):
        water(np.zeros((2, 2, 3), np.uint8), interp_type=types.INTERP_CUBIC)
