"""Padding to common extents."""

from __future__ import annotations

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
    Example("shape", [images()], {"shape": [40, 40, 4], "fill_value": 7.0}),
    Example(
        "aligned",
        [images("CHW", "float32")],
        {"axes": [1, -1], "align": [4, 8], "shape": [1, 1], "fill_value": -2.5},
    ),
    Example("named", [images()], {"axis_names": "WH", "align": 16, "shape": 1}),
    Example("extents", [images(), Input(lambda _: np.int64([40, 1, 4]))]),
    Example("largest", [images()], {"fill_value": 3.0}, depends_on_batch=True),
]


def padded(array: np.ndarray, shape: tuple[int, ...], value: Any) -> np.ndarray:
    widths = [(0, to - extent) for extent, to in zip(array.shape, shape, strict=True)]
    return np.pad(array, widths, constant_values=value)


@pytest.mark.parametrize("dtype", ALL_TYPES)
@pytest.mark.parametrize("axes", [[], [0], [1], [-1, 0], [0, 1, 2]])
def test_to_the_largest_in_the_batch(axes: list[int], dtype: str) -> None:
    arrays = [numbers(dtype, shape, 0) for shape in ((2, 7, 3), (5, 4, 3), (1, 1, 4))]
    largest = (5, 7, 4)
    chosen = {axis % 3 for axis in axes or range(3)}
    for result, array in zip(run_on("pad", arrays, axes=axes, fill_value=1), arrays, strict=True):
        shape = tuple(largest[i] if i in chosen else array.shape[i] for i in range(3))
        np.testing.assert_array_equal(result, padded(array, shape, 1), strict=True)


def test_every_batch_has_its_own_extents() -> None:
    example = Example("batches", [Input(lambda number: np.ones((number + 1, 2)))])
    result = run("pad", example, {}, batch_size=2, num_samples=6)
    assert [sample.shape[0] for sample in result.samples[0]] == [2, 2, 4, 4, 6, 6]


@pytest.mark.parametrize(
    ("arguments", "shapes"),
    [
        ({"shape": [4, 4]}, [(4, 4), (4, 4)]),
        ({"shape": 4}, [(4, 4), (4, 4)]),
        ({"shape": [1, 1]}, [(2, 3), (3, 1)]),
        ({"shape": [4, -1]}, [(4, 3), (4, 3)]),
        ({"shape": 0}, [(3, 3), (3, 3)]),
        ({"shape": [4, 5], "axes": [1, 0]}, [(5, 4), (5, 4)]),
        ({"align": [4, 5]}, [(4, 5), (4, 5)]),
        ({"align": 2, "axes": [1]}, [(2, 4), (3, 4)]),
        ({"align": 2, "shape": 1}, [(2, 4), (4, 2)]),
        ({"axis_names": "W"}, [(2, 3), (3, 3)]),
    ],
)
def test_extents(arguments: dict[str, Any], shapes: list[tuple[int, ...]]) -> None:
    arrays = [numbers("int32", shape, 0) for shape in ((2, 3), (3, 1))]
    for result, array, shape in zip(
        run_on("pad", arrays, "HW", **arguments), arrays, shapes, strict=True
    ):
        np.testing.assert_array_equal(result, padded(array, shape, 0), strict=True)


def test_fill_value_of_integers_drops_the_fraction_and_wraps() -> None:
    array = np.zeros(1, np.uint8)
    for value, expected in ((2.5, 2), (300, 44), (-3, 253)):
        assert run_on("pad", [array], shape=2, fill_value=value)[0].tolist() == [0, expected]


def test_empty_arrays() -> None:
    results = run_on("pad", [np.zeros((0, 2)), np.zeros((2, 0))], fill_value=3)
    for result in results:
        np.testing.assert_array_equal(result, np.full((2, 2), 3.0), strict=True)


def test_zero_copy_without_padding() -> None:
    assert shares_memory("pad", axes=[1])
    assert not shares_memory("pad", shape=8)


def test_invalid_arguments() -> None:
    with pytest.raises(ArgumentValueError, match="'axis_names' must not be given together"):
        run_on("pad", [np.zeros((2, 3))], "HW", axes=[0], axis_names="H")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"axes": [2]}, "axes must be from -2 to 1"),
        ({"axes": [0, -2]}, "each dimension must be padded once"),
        ({"axis_names": "X"}, "axis_names must be letters of the input's layout"),
        ({"align": 0}, "'align'.* must be at least 1"),
        ({"align": [1, 2], "axes": [0]}, "align must have one number, or one for each of 1"),
        ({"shape": [1, 2, 3]}, "shape must have one number, or one for each of 2"),
    ],
)
def test_invalid_samples(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((ArgumentValueError, SampleError), match=message):
        run_on("pad", [np.zeros((2, 3))], "HW", **arguments)


def test_extents_of_other_dimensions() -> None:
    example = Example("extents", [images(), Input(lambda _: np.int64([40, 1]))])
    with pytest.raises(SampleError, match="least extents must be one for each of the 3 dimensions"):
        run("pad", example, {})
