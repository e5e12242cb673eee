"""Joining along a dimension that the inputs have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import ALL_TYPES, Example, Input, images, numbers, run, shares_memory

EXAMPLES = [
    Example("first", [images(), images()]),
    Example("last", [images("HWC", "float32"), images("HWC", "float32")], {"axis": -1}),
    Example("named", [images("CHW", "int16")] * 3, {"axis_name": "W"}),
    Example("one", [images()], {"axis": 1}),
]


def cat(arrays: list[np.ndarray], layouts: str = "", **arguments: Any) -> tuple[np.ndarray, str]:
    """Join; `layouts` are separated by spaces."""
    letters = layouts.split(" ") if layouts else [""] * len(arrays)
    inputs = [
        Input(lambda _, array=array: array, layout)
        for array, layout in zip(arrays, letters, strict=True)
    ]
    result = run("cat", Example("cat", inputs), arguments, num_samples=1)
    (layout,) = result.layouts[0]
    return result.samples[0][0], layout


@pytest.mark.parametrize("dtype", ALL_TYPES)
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_axes(axis: int, dtype: str) -> None:
    arrays = []
    for extent in (2, 1, 5):
        shape = [3, 4, 2]
        shape[axis] = extent
        arrays.append(numbers(dtype, shape, extent))
    result, _ = cat(arrays, axis=axis)
    np.testing.assert_array_equal(result, np.concatenate(arrays, axis), strict=True)


def test_layout_is_that_of_the_first_input() -> None:
    image = np.zeros((2, 3))
    assert cat([image, image], "HW HW", axis_name="W")[0].shape == (2, 6)
    assert cat([image, image], "AB HW")[1] == "AB"
    assert cat([image, image], " HW")[1] == ""


def test_empty_tensors_are_ignored() -> None:
    image = numbers("int32", (2, 3), 0)
    for nothing in ((0, 3), (2, 0), (0, 5)):
        for axis in (0, 1):
            empty = np.zeros(nothing, np.int32)
            for arrays in ([image, empty], [empty, image]):
                np.testing.assert_array_equal(cat(arrays, axis=axis)[0], image, strict=True)
    assert cat([np.zeros((0, 5)), np.zeros((0, 2))], axis=1)[0].shape == (0, 5)


def test_zero_copy_from_one_input() -> None:
    assert shares_memory("cat")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"axis": 0, "axis_name": "H"}, "'axis_name' must not be given together with 'axis'"),
        ({"axis_name": ""}, "axis_name must be one letter"),
        ({"axis_name": "HW"}, "axis_name must be one letter"),
    ],
)
def test_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        cat([np.zeros((2, 3))] * 2, "HW HW", **arguments)


@pytest.mark.parametrize(
    ("second", "arguments", "message"),
    [
        (np.zeros((2, 3)), {"axis": 2}, "axis must be from -2 to 1"),
        (np.zeros((2, 3)), {"axis": -3}, "axis must be from -2 to 1"),
        (np.zeros((2, 3)), {"axis_name": "X"}, "axis_name must be a letter"),
        (np.zeros((2, 4)), {}, "inputs must differ in extent along axis 0 only"),
        (np.zeros((2, 3), np.float32), {}, "same type and number of dimensions"),
        (np.zeros(3), {}, "same type and number of dimensions"),
    ],
)
def test_invalid_samples(second: np.ndarray, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        cat([np.zeros((2, 3)), second], "HW ", **arguments)
