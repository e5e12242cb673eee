"""Tensors of a given shape, filled with a value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import fn
from dali_core.errors import ArgumentTypeError, ArgumentValueError, SampleError
from tests.operators.suite import ALL_TYPES, Example, Input, numbers, pipeline

EXAMPLES = [
    Example("number", [Input(lambda number: np.float64(number))]),
    Example(
        "row",
        [Input(lambda number: np.int16([number, 2, 3]))],
        {"shape": (2, 3), "layout": "HW"},
    ),
    Example(
        "column", [Input(lambda number: numbers("uint8", (4, 1, 1), number))], {"shape": (4, 2, 3)}
    ),
]


def full(value: Any, **arguments: Any) -> tuple[np.ndarray, str]:
    """Fill with a value: arrays are passed as a node and everything else unchanged."""
    with pipeline(batch_size=2) as made:
        with made:
            if isinstance(value, (np.ndarray, np.generic)):
                sample = np.asarray(value)
                value = fn.external_source(source=lambda: [sample] * 2)
            made.set_outputs(fn.full(value, **arguments))
        (batch,) = made.run()
        first, second = (np.array(batch.at(number)) for number in range(2))
        np.testing.assert_array_equal(first, second)
        return first, batch.layout()


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_types(dtype: str) -> None:
    value = numbers(dtype, (2, 1, 3), 0)
    result, _ = full(value, shape=(2, 4, 3))
    np.testing.assert_array_equal(result, np.broadcast_to(value, (2, 4, 3)), strict=True)


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ((), ()),
        ((), (3,)),
        ((), (2, 0)),
        ((3,), (2, 3)),
        ((1, 3), (2, 3)),
        ((2, 1), (2, 3)),
        ((2, 1, 3), (5, 2, 4, 3)),
        ((1, 1, 1), (2, 2, 2)),
        ((0,), (2, 0)),
    ],
)
def test_values_are_repeated(value: tuple[int, ...], shape: tuple[int, ...]) -> None:
    data = numbers("int32", value, 0)
    result, _ = full(data, shape=shape)
    np.testing.assert_array_equal(result, np.broadcast_to(data, shape), strict=True)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, np.full((2, 2), 3, np.int32)),
        (2.5, np.full((2, 2), 2.5, np.float32)),
        (True, np.full((2, 2), True)),
        ([1, 2], np.int32([[1, 2], [1, 2]])),
        ([[1], [2.5]], np.float32([[1, 1], [2.5, 2.5]])),
    ],
)
def test_values_in_the_program(value: Any, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(full(value, shape=(2, 2))[0], expected, strict=True)


def test_layout() -> None:
    assert full(3, shape=(2, 3), layout="AB")[1] == "AB"
    with pytest.raises(ArgumentValueError, match="layout must have one letter a dimension"):
        full(3, shape=(2, 3), layout="A")


def test_shape_of_each_sample() -> None:
    shapes = [np.int32([2, 3]), np.int32([0, 3]), np.int32([1, 1])]
    with pipeline() as made:
        with made:
            node = fn.external_source(source=lambda: shapes)
            made.set_outputs(fn.full(7, shape=node))
        (batch,) = made.run()
        assert batch.shape() == [(2, 3), (0, 3), (1, 1)]
        assert (np.array(batch.at(0)) == 7).all()


def test_values_that_do_not_fit() -> None:
    for value, shape in (((2,), (3,)), ((3, 2), (3, 3)), ((2,), (1,)), ((0,), ()), ((2, 0), ())):
        with pytest.raises(SampleError, match="fill_value must have the output's shape"):
            full(np.zeros(value), shape=shape)


def test_invalid_values_raise() -> None:
    with pytest.raises(ArgumentTypeError, match="input 0 must be a DataNode"):
        full("abc", shape=3)
    with pytest.raises(ArgumentTypeError, match="lists must be of numbers"):
        full([None], shape=3)
    with pytest.raises(ArgumentValueError, match="integers must fit into INT32"):
        full(2**31, shape=3)
