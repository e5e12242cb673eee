"""Tensors of the shape of others, filled with a value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import fn
from dali_core.errors import SampleError
from tests.operators.suite import ALL_TYPES, Example, Input, images, numbers, pipeline

EXAMPLES = [
    Example("number", [images(), Input(lambda number: np.float32(number + 0.5))]),
    Example("channels", [images("HWC", "float16"), Input(lambda number: np.int64([1, 2, 300]))]),
]


def full_like(like: np.ndarray, value: Any, layout: str | None = None) -> tuple[np.ndarray, str]:
    """Fill with a value: arrays are passed as a node and everything else unchanged."""
    with pipeline(batch_size=1) as made:
        with made:
            data = fn.external_source(source=lambda: [like], layout=layout)
            if isinstance(value, (np.ndarray, np.generic)):
                sample = np.asarray(value)
                value = fn.external_source(source=lambda: [sample])
            made.set_outputs(fn.full_like(data, value))
        (batch,) = made.run()
        return np.array(batch.at(0)), batch.layout()


@pytest.mark.parametrize("value_type", ALL_TYPES)
@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_types(dtype: str, value_type: str) -> None:
    like = numbers(dtype, (2, 3), 0)
    result, _ = full_like(like, np.array([0, 1, 1], value_type))
    np.testing.assert_array_equal(result, np.array([[0, 1, 1]] * 2, dtype), strict=True)


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        ("int16", 2.5, 3),
        ("int16", -2.5, -3),
        ("uint8", 300, 255),
        ("uint8", -1.0, 0),
        ("bool", 0.3, False),
        ("float32", True, 1),
    ],
)
def test_conversion(dtype: str, value: Any, expected: Any) -> None:
    result, layout = full_like(np.zeros((2, 3), dtype), value, "HW")
    np.testing.assert_array_equal(result, np.full((2, 3), expected, dtype), strict=True)
    assert layout == "HW"


def test_values_are_repeated() -> None:
    like = np.zeros((4, 2, 3), np.float32)
    for shape in ((), (3,), (2, 1), (4, 1, 1), (1, 2, 3), (4, 2, 3)):
        value = numbers("float32", shape, 0)
        expected = np.broadcast_to(value, like.shape)
        np.testing.assert_array_equal(full_like(like, value)[0], expected, strict=True)
    assert full_like(np.zeros((0, 3)), [1, 2, 3])[0].shape == (0, 3)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
def test_large_outputs(dtype: str) -> None:
    like = np.zeros((3, 61, 70, 3), dtype)
    for shape in ((), (3,), (70, 1), (61, 1, 3), (3, 1, 1, 1), (3, 61, 1, 1), (70, 3)):
        value = numbers(dtype, shape, 1)
        expected = np.broadcast_to(value, like.shape)
        np.testing.assert_array_equal(full_like(like, value)[0], expected, strict=True)


def test_values_that_do_not_fit() -> None:
    for shape in ((2,), (4, 3), (1, 4, 2, 3)):
        with pytest.raises(SampleError, match="fill_value must have the output's shape"):
            full_like(np.zeros((4, 2, 3)), np.zeros(shape))
