"""Changing the shape of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import Example, Input, images, numbers, run, run_on, shares_memory

EXAMPLES = [
    Example("shape", [images()], {"shape": [-1, 3]}),
    Example("relative", [images()], {"rel_shape": [1.0, -1.0]}),
    Example("dimensions", [images()], {"src_dims": [-1, 1, 0, 2], "layout": "FHWC"}),
    Example(
        "relative_dimensions",
        [images("FHWC", "float32")],
        {"src_dims": [1, 0], "rel_shape": [1, -1]},
    ),
    Example("layout", [images("CHW", "int16")], {"layout": "DHW"}),
    Example("input", [images(), Input(lambda _: np.int32([1, -1, 3]))], {"layout": "DHW"}),
]


def reshape(values: np.ndarray, letters: str = "", **arguments: Any) -> tuple[np.ndarray, str]:
    """Reshape an array with the layout `letters`."""
    example = Example("reshape", [Input(lambda _: values, letters)])
    result = run("reshape", example, arguments, num_samples=1)
    (output_layout,) = result.layouts[0]
    return result.samples[0][0], output_layout


@pytest.mark.parametrize(
    ("arguments", "shape"),
    [
        ({"shape": [6, 4]}, (6, 4)),
        ({"shape": [6, -1]}, (6, 4)),
        ({"shape": [-2, 4]}, (6, 4)),
        ({"shape": -1}, (24,)),
        ({"rel_shape": [1.0, 2.0, 0.5]}, (2, 6, 2)),
        ({"rel_shape": [0.5, -1]}, (1, 24)),
        ({"rel_shape": [0.75, -1]}, (2, 12)),
        ({"rel_shape": [0.5, 8]}, (1, 24)),
        ({"rel_shape": [1, 1, 0.5, -1]}, (2, 3, 2, 2)),
        ({"src_dims": [2, 0, 1]}, (4, 2, 3)),
        ({"src_dims": [-1, 2, 0, 1]}, (1, 4, 2, 3)),
        ({"src_dims": [-1, 2, 1], "rel_shape": [2, 0.5, 2]}, (2, 2, 6)),
        ({"src_dims": [2, 1, 0], "shape": [4, 3, 2]}, (4, 3, 2)),
        ({"layout": "ABC"}, (2, 3, 4)),
    ],
)
def test_shapes(arguments: dict[str, Any], shape: tuple[int, ...]) -> None:
    values = numbers("int32", (2, 3, 4), 0)
    result, _ = reshape(values, **arguments)
    np.testing.assert_array_equal(result, values.reshape(shape), strict=True)


def test_shape_as_input() -> None:
    values = numbers("int32", (2, 3, 4), 0)
    for dtype in ("uint8", "int32", "int64"):
        shape = np.array([6, 4], dtype)
        example = Example("input", [Input(lambda _: values), Input(lambda _, shape=shape: shape)])
        result = run("reshape", example, {}, num_samples=1).samples[0][0]
        np.testing.assert_array_equal(result, values.reshape(6, 4), strict=True)


def test_scalars() -> None:
    assert reshape(np.ones((1, 1)), shape=[])[0].shape == ()
    assert reshape(np.int32(3), shape=[1, 1])[0].shape == (1, 1)


def test_layouts() -> None:
    values = np.zeros((2, 3, 4))
    assert reshape(values, "HWC", shape=[6, 2, 2])[1] == "HWC"
    assert reshape(values, "HWC", shape=[6, 4])[1] == ""
    assert reshape(values, "HWC", shape=[6, 4], layout="AB")[1] == "AB"
    assert reshape(values, "HWC", layout="")[1] == ""


def test_zero_copy() -> None:
    assert shares_memory("reshape", shape=[-1, 21])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "shape, rel_shape, src_dims or layout must be given"),
        ({"shape": [6, 4], "rel_shape": [1.0]}, "at most one of"),
        ({"shape": [-1, -1]}, "shape must leave at most one extent open"),
        ({"shape": [0, -1]}, "shape must not have an extent of 0"),
        ({"rel_shape": [1, -1, -1]}, "rel_shape must leave at most one extent open"),
        ({"rel_shape": []}, "rel_shape must have a number for each dimension"),
    ],
)
def test_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        reshape(np.zeros((2, 3, 4)), **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shape": [5, 4]}, "as many elements as the input"),
        ({"shape": [5, -1]}, "as many elements as the input"),
        ({"rel_shape": [1, -1, 2]}, "as many elements as the input"),
        ({"rel_shape": [1, 1, 1, 1]}, "rel_shape must have one number for each entry"),
        ({"rel_shape": [0.01, -1]}, "the open extent must follow from the others"),
        ({"rel_shape": [1.0], "src_dims": [0, 1]}, "rel_shape must have one number for each entry"),
        ({"src_dims": [3]}, "src_dims must have dimensions of the input"),
        ({"src_dims": [-2]}, "src_dims must have dimensions of the input"),
        ({"layout": "AB"}, "layout must have one letter a dimension"),
    ],
)
def test_invalid_samples(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        reshape(np.zeros((2, 3, 4)), **arguments)


def test_shape_that_is_no_integer() -> None:
    example = Example("input", [images(), Input(lambda _: np.float32([-1]))])
    with pytest.raises(SampleError, match=r"integers \(got type float32\)"):
        run("reshape", example, {})


def test_type_is_not_an_argument() -> None:
    with pytest.raises(TypeError, match="unknown argument 'dtype'"):
        run_on("reshape", [np.zeros(3)], shape=[3], dtype=types.FLOAT)
