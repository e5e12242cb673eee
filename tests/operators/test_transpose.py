"""Reordering dimensions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import (
    ALL_TYPES,
    Example,
    Input,
    images,
    numbers,
    run,
    run_on,
    shares_memory,
)

EXAMPLES = [
    Example("reversed", [images()]),
    Example("planes", [images("HWC", "float32")], {"perm": [2, 0, 1]}),
    Example("pixels", [images("CHW")], {"perm": [1, 2, 0], "output_layout": "HWX"}),
    Example("frames", [images("FHWC", "int16")], {"perm": [3, 0, 2, 1], "transpose_layout": False}),
]


def layout_of(layout: str, **arguments: Any) -> str:
    image = numbers("uint8", [2, 3, 4], 0)
    example = Example("layout", [Input(lambda _: image, layout)])
    (result,) = run("transpose", example, arguments, num_samples=1).layouts[0]
    return result


@pytest.mark.parametrize("dtype", ALL_TYPES)
@pytest.mark.parametrize("shape", [(40, 70, 3), (3, 5, 37), (1, 6, 1, 3), (2, 3, 4, 5), (33, 65)])
def test_every_order(shape: tuple[int, ...], dtype: str) -> None:
    values = numbers(dtype, shape, 0)
    for perm in itertools.permutations(range(len(shape))):
        (result,) = run_on("transpose", [values], perm=list(perm))
        np.testing.assert_array_equal(result, values.transpose(perm), strict=True)


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5, 8, 9])
def test_runs_of_channels(channels: int) -> None:
    for dtype in ("uint8", "uint16", "float32"):
        values = numbers(dtype, (35, 34, channels), 0)
        for perm in ([1, 0, 2], [2, 0, 1], [2, 1, 0]):
            (result,) = run_on("transpose", [values], perm=perm)
            np.testing.assert_array_equal(result, values.transpose(perm), strict=True)


def test_dimensions_are_reversed_by_default() -> None:
    values = numbers("uint8", (2, 3, 4), 0)
    np.testing.assert_array_equal(run_on("transpose", [values])[0], values.T, strict=True)
    assert run_on("transpose", [np.int32(7)])[0].shape == ()


def test_layouts() -> None:
    assert layout_of("HWC") == "CWH"
    assert layout_of("HWC", perm=[2, 0, 1]) == "CHW"
    assert layout_of("HWC", perm=[2, 0, 1], transpose_layout=False) == "HWC"
    assert layout_of("HWC", perm=[2, 0, 1], output_layout="ABC") == "ABC"
    assert layout_of("", perm=[2, 0, 1], output_layout="ABC") == "ABC"
    assert layout_of("", perm=[2, 0, 1]) == ""


def test_zero_copy_where_elements_stay_in_order() -> None:
    assert shares_memory("transpose", perm=[0, 1, 2])
    assert not shares_memory("transpose", perm=[2, 0, 1])


def test_empty_arrays() -> None:
    (result,) = run_on("transpose", [np.zeros((2, 0, 4))], perm=[2, 0, 1])
    assert result.shape == (4, 2, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"perm": [2, 0, 0]}, r"perm must have each number .*\[2, 0, 0\]"),
        ({"perm": [-1, 0, 1]}, "perm must have each number"),
        ({"perm": [3, 0, 1]}, "perm must have each number"),
        ({"output_layout": ""}, "output_layout must have one letter a dimension"),
    ],
)
def test_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        run_on("transpose", [np.zeros((2, 3, 4))], **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"perm": [1, 0]}, "one number for each of the 3 dimensions"),
        ({"perm": []}, "one number for each of the 3 dimensions"),
        ({"output_layout": "AB"}, "output_layout must have one letter a dimension"),
    ],
)
def test_invalid_samples(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        run_on("transpose", [np.zeros((2, 3, 4))], **arguments)
