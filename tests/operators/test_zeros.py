"""Tensors of a given shape, filled with zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import fn, types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import ALL_TYPES, Example, pipeline, type_of

EXAMPLES = [
    Example("default"),
    Example("shape", (), {"shape": (2, 3), "dtype": types.FLOAT16, "layout": "HW"}),
]


def zeros(**arguments: Any) -> tuple[np.ndarray, str]:
    with pipeline() as made:
        with made:
            made.set_outputs(fn.zeros(**arguments))
        (batch,) = made.run()
        return batch.as_array(), batch.layout()


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_types(dtype: str) -> None:
    result, _ = zeros(shape=(2, 5), dtype=type_of(dtype))
    np.testing.assert_array_equal(result, np.zeros((3, 2, 5), dtype), strict=True)


@pytest.mark.parametrize("shape", [[], 3, [0, 4], [2, 1, 3]])
def test_shapes(shape: Any) -> None:
    result, _ = zeros(shape=shape)
    extents = tuple(np.atleast_1d(shape).astype(int))
    np.testing.assert_array_equal(result, np.zeros((3, *extents), np.int32), strict=True)


def test_numbers_by_default() -> None:
    np.testing.assert_array_equal(zeros()[0], np.zeros(3, np.int32), strict=True)


def test_layout() -> None:
    assert zeros(shape=(2, 3), layout="AB")[1] == "AB"
    assert zeros(shape=(2, 3))[1] == ""


def test_shape_of_each_sample() -> None:
    shapes = [np.int32([2, 3]), np.int32([0, 3]), np.int32([1, 1])]
    with pipeline() as made:
        with made:
            node = fn.external_source(source=lambda: shapes)
            made.set_outputs(fn.zeros(shape=node, layout="HW"))
        (batch,) = made.run()
        assert batch.shape() == [(2, 3), (0, 3), (1, 1)]
        assert (np.array(batch.at(0)) == 0).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shape": [-1]}, "'shape', entry 0 must be at least 0"),
        ({"shape": [2, 3], "layout": "A"}, "layout must have one letter a dimension"),
        ({"layout": "A"}, "layout must have one letter a dimension"),
    ],
)
def test_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        zeros(**arguments)


def test_invalid_shape_of_a_sample() -> None:
    with pipeline() as made:
        with made:
            node = fn.external_source(source=lambda: [np.int32([2, -3])] * 3)
            made.set_outputs(fn.zeros(shape=node))
        with pytest.raises(SampleError, match="'shape', entry 1, must be at least 0"):
            made.run()
