"""Sums of second derivatives."""

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
    Example(
        "bytes",
        [images()],
        {"window_size": 3, "smoothing_size": 1, "scale": 0.5, "dtype": types.FLOAT},
    ),
    Example(
        "each-axis",
        [images("FCHW", "int16")],
        {"window_size": [3, 5], "smoothing_size": [7, 1], "scale": [0.25, -0.125]},
    ),
    Example("normalized", [images("HWC")], {"window_size": 7, "normalized_kernel": True}),
    Example("volume", [images("DHW", "float32", extents={"D": 4})], {"window_size": [3, 5, 3]}),
]
SMOOTHING = np.array([1.0, 1.0])
DERIVATIVE = np.array([1.0, -2.0, 1.0])


def smoothing(size: int) -> np.ndarray:
    window = np.ones(1)
    for _ in range(size - 1):
        window = np.convolve(window, SMOOTHING)
    return window


def laplacian(
    values: np.ndarray,
    axes: list[int],
    window_size: Any = 3,
    smoothing_size: Any = None,
    scale: Any = 1.0,
    *,
    normalized: bool = False,
) -> np.ndarray:
    """Sum derivatives in float64, as documented."""
    total = np.zeros(values.shape)
    sizes = np.broadcast_to(window_size, len(axes))
    for derived, size, factor in zip(axes, sizes, np.broadcast_to(scale, len(axes)), strict=True):
        result = values.astype(np.float64)
        sum_of_sizes = 0
        smoothing_sizes = np.broadcast_to(smoothing_size or size, len(axes))
        for axis, other in zip(axes, smoothing_sizes, strict=True):
            is_derived = axis == derived
            window = (
                np.convolve(DERIVATIVE, smoothing(size - 2)) if is_derived else smoothing(other)
            )
            sum_of_sizes += len(window)
            result = along_axis(result, window, axis)
        total += result * (2.0 ** (len(axes) + 2 - sum_of_sizes) if normalized else factor)
    return total


@pytest.mark.parametrize("dtype", NUMBER_TYPES)
def test_types(dtype: str) -> None:
    values = numbers(dtype, (11, 45, 3), 1)
    exact = laplacian(values, [0, 1], scale=0.125)
    for arguments in ({}, {"dtype": types.FLOAT}, {"dtype": type_of(dtype)}):
        (result,) = run_on("laplacian", [values], "HWC", scale=0.125, **arguments)
        target = "float32" if arguments.get("dtype") == types.FLOAT else dtype
        check_close(result, exact, target, values)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str) -> None:
    values = numbers("int16", shape_of(layout), 2)
    axes = data_axes_of(layout)
    (result,) = run_on("laplacian", [values], layout, normalized_kernel=True, dtype=types.FLOAT)
    check_close(result, laplacian(values, axes, normalized=True), "float32", values)


def test_small_windows_are_exact() -> None:
    values = numbers("uint8", (12, 17), 3)
    for arguments in ({}, {"window_size": 5}, {"window_size": [3, 7], "smoothing_size": [5, 1]}):
        (result,) = run_on("laplacian", [values], "HW", dtype=types.FLOAT, **arguments)
        np.testing.assert_array_equal(result, laplacian(values, [0, 1], **arguments))


ODD = st.integers(0, 15).map(lambda half: 2 * half + 1)


@settings(max_examples=40, deadline=None)
@given(
    shape=st.lists(st.integers(1, 30), min_size=1, max_size=3),
    size=ODD.filter(lambda size: size >= 3),
    smoothing_size=st.none() | ODD,
)
def test_windows_of_any_size(shape: list[int], size: int, smoothing_size: int | None) -> None:
    values = numbers("float32", shape, 3)
    (result,) = run_on(
        "laplacian",
        [values],
        window_size=size,
        smoothing_size=smoothing_size,
        normalized_kernel=True,
    )
    exact = laplacian(values, [*range(len(shape))], size, smoothing_size, normalized=True)
    check_close(result, exact, "float32", values * 2)


def test_values_of_each_frame() -> None:
    values = numbers("float32", (2, 9, 8), 6)
    sizes, factors = np.int32([3, 7]), np.float32([[1, 0.5], [0.25, -0.5]])
    result = run_framed("laplacian", values, "FHW", window_size=sizes, scale=factors)
    for frame in range(2):
        exact = laplacian(values[frame], [0, 1], sizes[frame], None, factors[frame])
        check_close(result[frame], exact, "float32", values * 100)


@pytest.mark.parametrize("shape", [(0, 4), (4, 0)])
def test_empty_arrays(shape: tuple[int, ...]) -> None:
    assert run_on("laplacian", [np.zeros(shape, np.uint8)], "HW")[0].shape == shape


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"window_size": 1}, r"window_size must be odd and from 3 to 31 \(got 1\)"),
        ({"window_size": [3, 4]}, "window_size must be odd"),
        ({"window_size": 33}, "window_size must be odd"),
        ({"smoothing_size": 0}, r"smoothing_size must be odd and from 1 to 31 \(got 0\)"),
        ({"smoothing_size": 2}, "smoothing_size must be odd"),
        ({"smoothing_size": 33}, "smoothing_size must be odd"),
        ({"scale": 1.0, "normalized_kernel": True}, "scale must be left out"),
    ],
)
def test_wrong_constants(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        run_on("laplacian", [np.zeros((4, 4), np.uint8)], "HW", **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"window_size": [3, 3, 3]}, "window_size must have one number, or one for each of the 2"),
        ({"smoothing_size": [3, 3, 3]}, "smoothing_size must have one number"),
        ({"scale": [1.0, 1.0, 1.0]}, "scale must have one number"),
        ({"dtype": types.FLOAT64}, "dtype must be FLOAT or the type of the input"),
    ],
)
def test_wrong_for_the_sample(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        run_on("laplacian", [np.zeros((4, 4), np.uint8)], "HW", **arguments)


def test_wrong_with_the_sample() -> None:
    with pytest.raises(SampleError, match="window_size must be odd"):
        run_framed("laplacian", np.zeros((2, 4, 4)), "FHW", window_size=np.int32([3, 4]))


@pytest.mark.parametrize("layout", WRONG_LAYOUTS)
def test_wrong_layouts(layout: str) -> None:
    with pytest.raises(SampleError, match="the input must have"):
        run_on("laplacian", [np.zeros(shape_of(layout))], layout)


def test_bool_is_no_number() -> None:
    with pytest.raises(SampleError, match="which bool has not"):
        run_on("laplacian", [np.zeros((4, 4), bool)], "HW")
