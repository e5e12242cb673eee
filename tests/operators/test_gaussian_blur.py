"""Blurring with a Gaussian window."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.neighbourhoods import (
    LAYOUTS,
    NUMBER_TYPES,
    WRONG_LAYOUTS,
    along_axis,
    check_close,
    data_axes_of,
    run_framed,
    shape_of,
)
from tests.operators.suite import Example, images, numbers, run_on, type_of

EXAMPLES = [
    Example("bytes", [images()], {"sigma": 1.5}),
    Example("window", [images("CHW")], {"sigma": [0.7], "window_size": [5]}),
    Example("float", [images("HWC", "float32")], {"window_size": [3, 5], "sigma": [0.0, 2.0]}),
    Example("to-float", [images("FHWC")], {"sigma": [2.0, 0.5], "dtype": types.FLOAT}),
    Example("volume", [images("DHWC", "int16", extents={"D": 4})], {"sigma": [1.0, 0.5, 2.0]}),
    Example("wide-integers", [images("HW", "int64")], {"sigma": 4.0}),
]


def window(sigma: float, size: int) -> np.ndarray:
    """Return the weights by the formulas in the documentation."""
    size = size or 2 * int(np.ceil(3 * sigma)) + 1
    sigma = sigma or 0.3 * ((size - 1) / 2 - 1) + 0.8
    x = np.arange(size) - size // 2
    weights = np.exp(-x * x / (2 * sigma * sigma))
    return weights / weights.sum()


def blur(values: np.ndarray, axes: list[int], sigma: Any, size: Any) -> np.ndarray:
    """Blur in float64."""
    result = values.astype(np.float64)
    sigmas, sizes = np.broadcast_to(sigma, len(axes)), np.broadcast_to(size, len(axes))
    for axis, one_sigma, one_size in zip(axes, sigmas, sizes, strict=True):
        result = along_axis(result, window(float(one_sigma), int(one_size)), axis)
    return result


@pytest.mark.parametrize("dtype", NUMBER_TYPES)
def test_types(dtype: str) -> None:
    # Longer than the widest register, with a remainder; several tiles wide.
    values = numbers(dtype, (19, 700, 3), 1)
    exact = blur(values, [0, 1], 1.2, 0)
    for arguments in ({}, {"dtype": types.FLOAT}, {"dtype": type_of(dtype)}):
        (result,) = run_on("gaussian_blur", [values], "HWC", sigma=1.2, **arguments)
        target = "float32" if arguments.get("dtype") == types.FLOAT else dtype
        check_close(result, exact, target, values)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str) -> None:
    values = numbers("float32", shape_of(layout), 2)
    (result,) = run_on("gaussian_blur", [values], layout, sigma=1.0)
    check_close(result, blur(values, data_axes_of(layout), 1.0, 0), "float32", values)


@settings(max_examples=40, deadline=None)
@given(
    shape=st.lists(st.integers(1, 40), min_size=1, max_size=3),
    sigma=st.floats(0.05, 12),
    size=st.sampled_from([0, 1, 3, 9, 31]),
)
def test_windows_of_any_size(shape: list[int], sigma: float, size: int) -> None:
    values = numbers("float32", shape, 3)
    (result,) = run_on("gaussian_blur", [values], sigma=sigma, window_size=size)
    exact = blur(values, list(range(len(shape))), np.float32(sigma), size)
    check_close(result, exact, "float32", values)


@pytest.mark.parametrize("width", [1, 2, 85, 86, 255, 256, 257, 1000])
def test_tiles_fit_together(width: int) -> None:
    values = numbers("uint8", (3, width, 3), 4)
    for sigma in (0.5, 20.0):
        (result,) = run_on("gaussian_blur", [values], "HWC", sigma=[0.5, sigma], dtype=types.FLOAT)
        check_close(result, blur(values, [0, 1], [0.5, sigma], 0), "float32", values)


def test_a_window_of_one_pixel_changes_nothing() -> None:
    values = numbers("uint16", (5, 6), 5)
    (result,) = run_on("gaussian_blur", [values], "HW", window_size=1)
    np.testing.assert_array_equal(result, values)


@pytest.mark.parametrize("layout", ["FHW", "FCHW", "CFHW"])
def test_values_of_each_frame(layout: str) -> None:
    sigmas = np.float32([[1, 2], [0.5, 1], [2, 3]])
    values = numbers("float32", [3 if letter in "FC" else 9 for letter in layout], 6)
    result = run_framed("gaussian_blur", values, layout, sigma=sigmas)
    frames = layout.index("F")
    for frame, sigma in enumerate(sigmas):
        mine, original = (np.take(data, frame, frames) for data in (result, values))
        check_close(mine, blur(original, [original.ndim - 2, original.ndim - 1], sigma, 0))
    same = run_framed("gaussian_blur", values, layout, sigma=sigmas[:1])
    check_close(same, blur(values, [values.ndim - 2, values.ndim - 1], sigmas[0], 0))


def test_one_value_for_each_frame_is_needed() -> None:
    with pytest.raises(SampleError, match=r"sigma must have one entry, or one for each of the 3 f"):
        run_framed("gaussian_blur", np.zeros((3, 4, 4)), "FHW", sigma=np.float32([1, 2]))


@pytest.mark.parametrize("shape", [(0, 4, 3), (4, 0, 3), (4, 4, 0)])
def test_empty_arrays(shape: tuple[int, ...]) -> None:
    (result,) = run_on("gaussian_blur", [np.zeros(shape, np.uint8)], "HWC", sigma=1.0)
    assert result.shape == shape


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "sigma or window_size must be given"),
        ({"sigma": -1.0}, "'sigma', entry .* must be at least 0"),
        ({"sigma": float("nan")}, "'sigma', entry .* must be at least 0"),
        ({"window_size": 4}, r"window_size must be odd and positive, or 0 \(got 4\)"),
        ({"sigma": 1.0, "window_size": [3, -3]}, "window_size must be odd"),
        ({"sigma": 1e12}, "the window must have at most"),
    ],
)
def test_wrong_constants(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        run_on("gaussian_blur", [np.zeros((4, 4), np.uint8)], "HW", **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sigma": [1.0, 1.0, 1.0]}, "sigma must have one number, or one for each of the 2"),
        ({"sigma": []}, "sigma must have one number"),
        ({"sigma": [1.0, 0.0]}, "sigma or window_size must be given"),
        ({"sigma": 1.0, "dtype": types.INT16}, "dtype must be FLOAT or the type of the input"),
    ],
)
def test_wrong_for_the_sample(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        run_on("gaussian_blur", [np.zeros((4, 4), np.uint8)], "HW", **arguments)


@pytest.mark.parametrize("layout", WRONG_LAYOUTS)
def test_wrong_layouts(layout: str) -> None:
    with pytest.raises(SampleError, match="the input must have"):
        run_on("gaussian_blur", [np.zeros(shape_of(layout))], layout, sigma=1.0)


def test_bool_is_no_number() -> None:
    with pytest.raises(SampleError, match="which bool has not"):
        run_on("gaussian_blur", [np.zeros((4, 4), bool)], "HW", sigma=1.0)
