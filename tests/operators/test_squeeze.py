"""Removing dimensions of extent 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import Example, Input, images, run, run_on, shares_memory

EXAMPLES = [
    Example("axes", [images("CHWF", extents={"C": 1, "F": 1})], {"axes": [0, 3]}),
    Example("names", [images("CHW", "float32", extents={"C": 1})], {"axis_names": "C"}),
    Example("nothing", [images()], {"axes": []}),
]


def squeeze(shape: tuple[int, ...], layout: str, **arguments: Any) -> tuple[tuple[int, ...], str]:
    example = Example("squeeze", [Input(lambda _: np.zeros(shape), layout)])
    result = run("squeeze", example, arguments, num_samples=1)
    (output_layout,) = result.layouts[0]
    return result.samples[0][0].shape, output_layout


def test_shapes_and_layouts() -> None:
    assert squeeze((1, 3, 1, 2), "ABCD", axes=[0, 2]) == ((3, 2), "BD")
    assert squeeze((1, 3, 1, 2), "ABCD", axes=[2, 0]) == ((3, 2), "BD")
    assert squeeze((1, 3, 1, 2), "ABCD", axes=0) == ((3, 1, 2), "BCD")
    assert squeeze((1, 3, 1, 2), "ABCD", axis_names="CA") == ((3, 2), "BD")
    assert squeeze((1, 3, 1, 2), "", axes=[0]) == ((3, 1, 2), "")
    assert squeeze((1, 3, 1, 2), "ABCD", axis_names="") == ((1, 3, 1, 2), "ABCD")
    assert squeeze((1, 1), "AB", axes=[0, 1]) == ((), "")
    assert squeeze((0, 3, 2), "ABC", axes=[1]) == ((0, 2), "AC")


def test_elements_stay() -> None:
    values = np.arange(6).reshape(1, 2, 3)
    np.testing.assert_array_equal(run_on("squeeze", [values], axes=0)[0], values[0], strict=True)


def test_zero_copy() -> None:
    assert shares_memory("squeeze", axes=[])


@pytest.mark.parametrize("arguments", [{}, {"axes": [0], "axis_names": "A"}])
def test_invalid_arguments(arguments: dict[str, Any]) -> None:
    with pytest.raises(ArgumentValueError, match="either axes or axis_names must be given"):
        squeeze((1, 2), "AB", **arguments)


@pytest.mark.parametrize(
    ("shape", "layout", "arguments", "message"),
    [
        ((1, 2), "AB", {"axes": [1]}, "removed dimensions must have extent 1"),
        ((0, 2), "AB", {"axes": [0]}, "removed dimensions must have extent 1"),
        ((1, 2), "AB", {"axes": [0, 0]}, "each dimension must be removed once"),
        ((1, 2), "AB", {"axes": [2]}, "axes must be dimensions of the input"),
        ((1, 2), "AB", {"axes": [-1]}, "axes must be dimensions of the input"),
        ((1, 2), "AB", {"axis_names": "X"}, "axis_names must be letters of the input's layout"),
        ((1, 2), "", {"axis_names": "A"}, "axis_names must be letters of the input's layout"),
        ((1, 2), "AB", {"axis_names": "AA"}, "each dimension must be removed once"),
    ],
)
def test_invalid_samples(
    shape: tuple[int, ...], layout: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(SampleError, match=message):
        squeeze(shape, layout, **arguments)
