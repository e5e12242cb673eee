"""Sums of elements."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import types
from tests.operators.reductions import reducing
from tests.operators.reductions.reducing import reduce_one
from tests.operators.suite import ALL_TYPES, INTEGERS, Example, images, numbers, type_of

OPERATOR = "reductions.sum"
EXAMPLES = [*reducing.EXAMPLES, Example("wrapped", [images()], {"dtype": types.UINT8})]


def exact_sum(values: np.ndarray, axes: tuple[int, ...] | None) -> np.ndarray:
    if values.dtype.kind == "f":
        return np.asarray(np.sum(values, axes, np.float64))
    return np.asarray(np.sum(values, axes, np.int64 if values.dtype.kind == "i" else np.uint64))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint64", "float16", "float32", "bool"])
def test_axes(dtype: str) -> None:
    reducing.check_axes(OPERATOR, dtype, exact_sum)


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_types(dtype: str) -> None:
    values = numbers(dtype, (50, 70, 3), 1)
    result = reduce_one(OPERATOR, values, axes=[0, 1])
    kind = np.dtype(dtype).kind
    default = {"i": "int64", "u": "uint64", "b": "uint64"}.get(kind, dtype)
    assert result.dtype == ("float32" if dtype == "float16" else default)
    reducing.check_equal(result, exact_sum(values, (0, 1)))
    for target in ("float32", "float64"):
        result = reduce_one(OPERATOR, values, axes=[0, 1], dtype=type_of(target))
        assert result.dtype == target
        np.testing.assert_allclose(result, values.sum((0, 1), np.float64), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16"])
def test_more_rows_than_32_bits_hold(dtype: str) -> None:
    limits = np.iinfo(dtype)
    for limit in {limits.max, limits.min} - {0}:
        values = np.full((66000, 130), limit, dtype)
        result = reduce_one(OPERATOR, values, axes=0, dtype=types.INT64)
        np.testing.assert_array_equal(result, np.full(130, 66000 * limit))


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap_around(dtype: str, target: str) -> None:
    values = numbers(dtype, (600, 3), 2)
    result = reduce_one(OPERATOR, values, axes=[0], dtype=type_of(target))
    exact = [sum(int(value) for value in column) for column in values.T]
    bits = 8 * np.dtype(target).itemsize
    expected = np.array([number % 2**bits for number in exact], f"uint{bits}").view(target)
    np.testing.assert_array_equal(result, expected)


def test_floats_round_and_saturate_as_integers() -> None:
    values = np.float32([[100, 100.5], [100, -0.25]])
    result = reduce_one(OPERATOR, values, axes=[1], dtype=types.UINT8)
    assert result.tolist() == [201, 100]
    assert reduce_one(OPERATOR, values, dtype=types.UINT8).tolist() == 255


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16"])
def test_many_extreme_numbers(dtype: str) -> None:
    # More rows than 32-bit sums could hold.
    for extreme in (np.iinfo(dtype).min, np.iinfo(dtype).max):
        values = np.full((140_000, 2), extreme, dtype)
        assert reduce_one(OPERATOR, values, axes=0).tolist() == [140_000 * int(extreme)] * 2
        wide = np.full((66_000, 300), extreme, dtype)
        assert int(reduce_one(OPERATOR, wide)) == 66_000 * 300 * int(extreme)


def test_many_small_numbers_in_float() -> None:
    # In a sequential sum, the last ones would be lost in float32.
    values = np.full(40_000_000, 0.1, np.float32)
    np.testing.assert_allclose(reduce_one(OPERATOR, values), np.float64(np.float32(0.1)) * 4e7)


@settings(max_examples=50, deadline=None)
@given(
    shape=st.lists(st.integers(1, 40), min_size=0, max_size=4),
    subset=st.integers(0, 15),
    dtype=st.sampled_from(["uint8", "int32", "float32"]),
)
def test_any_shape(shape: list[int], subset: int, dtype: str) -> None:
    axes = [i for i in range(len(shape)) if subset >> i & 1]
    values = numbers(dtype, shape, 3)
    result = reduce_one(OPERATOR, values, axes=axes)
    reducing.check_equal(result, exact_sum(values, tuple(axes)))


def test_empty_arrays() -> None:
    assert reduce_one(OPERATOR, np.zeros((0, 3), np.float32), axes=0).tolist() == [0, 0, 0]
    assert reduce_one(OPERATOR, np.zeros((0, 3), np.float32), axes=1).shape == (0,)


def test_layouts() -> None:
    reducing.check_layouts(OPERATOR)


def test_wrong_axes() -> None:
    reducing.check_wrong_axes(OPERATOR)


def test_no_bool_output() -> None:
    reducing.check_no_bool_output(OPERATOR)
