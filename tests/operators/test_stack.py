"""Joining along a new dimension."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import ALL_TYPES, Example, Input, images, numbers, run, shares_memory

EXAMPLES = [
    Example("first", [images(), images()]),
    Example("last", [images("HW", "float32")] * 3, {"axis": -1, "axis_name": "C"}),
    Example("named", [images("CHW", "int16")] * 2, {"axis": 1, "axis_name": "F"}),
    Example("one", [images()]),
]


def stack(arrays: list[np.ndarray], layout: str = "", **arguments: Any) -> tuple[np.ndarray, str]:
    inputs = [Input(lambda _, array=array: array, layout) for array in arrays]
    result = run("stack", Example("stack", inputs), arguments, num_samples=1)
    (output_layout,) = result.layouts[0]
    return result.samples[0][0], output_layout


@pytest.mark.parametrize("dtype", ALL_TYPES)
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2])
def test_axes(axis: int, dtype: str) -> None:
    arrays = [numbers(dtype, (3, 4), i) for i in range(3)]
    result, layout = stack(arrays, axis=axis)
    np.testing.assert_array_equal(result, np.stack(arrays, axis), strict=True)
    assert layout == ""


def test_layouts() -> None:
    image = np.zeros((2, 3))
    assert stack([image, image], "HW")[1] == ""
    assert stack([image, image], "HW", axis_name="C")[1] == "CHW"
    assert stack([image, image], "HW", axis_name="C", axis=-1)[1] == "HWC"
    assert stack([image], "HW", axis_name="N")[1] == "NHW"


def test_scalars() -> None:
    result, layout = stack([np.int32(1), np.int32(2)], axis_name="X")
    np.testing.assert_array_equal(result, np.int32([1, 2]), strict=True)
    assert layout == "X"


def test_zero_copy_from_one_input() -> None:
    assert shares_memory("stack")


@pytest.mark.parametrize("name", ["", "CD"])
def test_name_that_is_no_letter(name: str) -> None:
    with pytest.raises(ArgumentValueError, match="axis_name must be one letter"):
        stack([np.zeros((2, 3))], "HW", axis_name=name)


@pytest.mark.parametrize(
    ("second", "arguments", "message"),
    [
        (np.zeros((2, 3)), {"axis": 3}, "axis must be from -2 to 2"),
        (np.zeros((2, 3)), {"axis": -3}, "axis must be from -2 to 2"),
        (np.zeros((2, 3)), {"axis_name": "C"}, "axis_name must go into a layout"),
        (np.zeros((2, 0)), {}, "inputs must have the same shape"),
        (np.zeros((2, 3), np.float32), {}, "same type and number of dimensions"),
    ],
)
def test_invalid_samples(second: np.ndarray, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        stack([np.zeros((2, 3)), second], **arguments)
