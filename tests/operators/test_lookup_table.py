"""Mapping integers through a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import types
from dali_core.errors import ArgumentTypeError, ArgumentValueError, SampleError
from tests.operators.suite import ALL_TYPES, INTEGERS, Example, images, run_on, type_of

TABLE: dict[str, Any] = {"keys": [0, 2, 3, 4, 200, 3], "values": [0.25, 4, 5.5, -6, 700, 10]}
EXAMPLES = [
    Example("bytes", [images()], {**TABLE, "default_value": 0.5}),
    Example("integers", [images("CHW", "int32")], {**TABLE, "dtype": types.UINT8}),
    Example("empty", [images("HW", "uint16")], {"default_value": 3.0, "dtype": types.INT64}),
]
ENTRIES = {0: 0.25, 2: 4.0, 3: 10.0, 4: -6.0, 200: 700.0}


def look_up(array: np.ndarray, **arguments: Any) -> np.ndarray:
    return run_on("lookup_table", [array], **arguments)[0]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_inputs(dtype: str) -> None:
    limits = np.iinfo(dtype)
    wanted = {limits.min, -200, -1, 0, 1, 2, 3, 4, 5, 127, 200, 201, 2**16 + 3, limits.max}
    values = sorted(number for number in wanted if limits.min <= number <= limits.max)
    expected = np.float32([ENTRIES.get(int(number), 0.5) for number in values])
    result = look_up(np.array(values, dtype), default_value=0.5, **TABLE)
    np.testing.assert_array_equal(result, expected, strict=True)


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_outputs(dtype: str) -> None:
    exact = np.array([ENTRIES.get(i, -1.5) for i in range(201)])
    if dtype == "bool":
        exact = np.abs(exact) >= 0.5
    elif np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        exact = np.clip(np.sign(exact) * np.floor(np.abs(exact) + 0.5), limits.min, limits.max)
    result = look_up(np.arange(201), dtype=type_of(dtype), default_value=-1.5, **TABLE)
    np.testing.assert_array_equal(result, exact.astype(dtype), strict=True)


def test_largest_key() -> None:
    values = np.array([65535, 65536, -1], np.int32)
    assert look_up(values, keys=65535, values=2.0).tolist() == [2, 0, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"keys": [1, 2], "values": [1.0]}, "keys and values must be equally many"),
        ({"keys": [-1], "values": [1.0]}, "'keys', entry .* must be from 0 to 65535"),
        ({"keys": [65536], "values": [1.0]}, "'keys', entry .* must be from 0 to 65535"),
    ],
)
def test_invalid_tables(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        look_up(np.arange(3), **arguments)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bool"])
def test_other_types(dtype: str) -> None:
    with pytest.raises(SampleError, match="the input must consist of integers"):
        look_up(np.zeros(3, dtype), **TABLE)


def test_former_name_of_dtype() -> None:
    with pytest.warns(DeprecationWarning, match="'output_dtype' is deprecated"):
        assert look_up(np.arange(3), output_dtype=types.INT16).dtype == np.int16
    with pytest.raises(ArgumentTypeError, match="only one of the arguments"):
        look_up(np.arange(3), output_dtype=types.INT16, dtype=types.INT16)
