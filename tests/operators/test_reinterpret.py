"""Reading memory as another type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import (
    ALL_TYPES,
    Example,
    Input,
    images,
    numbers,
    run_on,
    shares_memory,
    type_of,
)

EXAMPLES = [
    Example("type", [images("HWC", "float32")], {"dtype": types.UINT8}),
    Example("shape", [images("HWC", "int16")], {"dtype": types.UINT8, "shape": [-1, 6]}),
    Example("relative", [images("HWC", "int16")], {"dtype": types.INT8, "rel_shape": [1.0, -1.0]}),
    Example("dimensions", [images()], {"src_dims": [1, 0, 2], "dtype": types.INT8}),
    Example("layout", [images("CHW", "int16")], {"layout": "DHW"}),
    Example("input", [images(), Input(lambda _: np.int32([-1, 3]))], {"dtype": types.INT8}),
]


@pytest.mark.parametrize("source", ALL_TYPES)
@pytest.mark.parametrize("target", ALL_TYPES)
def test_types(source: str, target: str) -> None:
    values = numbers("bool", (2, 8), 0).astype(source)
    (result,) = run_on("reinterpret", [values], dtype=type_of(target))
    if target == "bool":
        values, result = values.view("uint8"), result.view("uint8")
        target = "uint8"
    expected = values.view(target)
    assert result.dtype == expected.dtype
    assert result.shape == expected.shape
    assert result.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("arguments", "shape"),
    [
        ({"shape": [-1]}, (4,)),
        ({"shape": [2, -1]}, (2, 2)),
        ({"rel_shape": [1, -1]}, (2, 2)),
        ({"rel_shape": [1, 0.5]}, (2, 2)),
        ({"src_dims": [1, 0]}, (4, 1)),
        ({"src_dims": [0, -1, 1]}, (2, 1, 2)),
        ({}, (2, 2)),
    ],
)
def test_shapes(arguments: dict[str, Any], shape: tuple[int, ...]) -> None:
    values = numbers("uint8", (2, 4), 0)
    (result,) = run_on("reinterpret", [values], dtype=types.INT16, **arguments)
    np.testing.assert_array_equal(result, values.view("int16").reshape(shape), strict=True)


def test_scalars() -> None:
    (result,) = run_on("reinterpret", [np.float32(1)], dtype=types.INT32)
    assert result == 0x3F800000
    with pytest.raises(SampleError, match="must be a multiple"):
        run_on("reinterpret", [np.float32(1)], dtype=types.INT16)


def test_zero_copy() -> None:
    assert shares_memory("reinterpret", dtype=types.INT8)


def test_invalid_calls() -> None:
    values = np.zeros((2, 3), np.uint8)
    with pytest.raises(ArgumentValueError, match="dtype, shape, rel_shape, src_dims or layout"):
        run_on("reinterpret", [values])
    with pytest.raises(ArgumentValueError, match="'dtype' must be a type of numbers"):
        run_on("reinterpret", [values], dtype=types.STRING)
    with pytest.raises(SampleError, match="bytes of the last dimension must be a multiple"):
        run_on("reinterpret", [values], dtype=types.INT16)
    with pytest.raises(SampleError, match="as many bytes as the input"):
        run_on("reinterpret", [values], dtype=types.INT16, shape=[2, 3])
