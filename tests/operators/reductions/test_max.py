"""Largest elements."""

from __future__ import annotations

import numpy as np
import pytest

from tests.operators.reductions import reducing
from tests.operators.reductions.reducing import reduce_one
from tests.operators.suite import ALL_TYPES, numbers

OPERATOR = "reductions.max"
EXAMPLES = reducing.EXAMPLES


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float16", "float32", "bool"])
def test_axes(dtype: str) -> None:
    reducing.check_axes(OPERATOR, dtype, lambda values, axes: np.asarray(values.max(axes)))


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_types(dtype: str) -> None:
    values = numbers(dtype, (50, 70, 3), 1)
    for axes in ([0, 1], [2], [0], [1], [0, 1, 2]):
        result = reduce_one(OPERATOR, values, axes=axes)
        np.testing.assert_array_equal(result, values.max(tuple(axes)), strict=True)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_nan_is_passed_over(dtype: str) -> None:
    values = np.array([[1, np.nan, 3], [np.nan, 3, 2], [np.nan] * 3, [np.inf] * 3], dtype)
    expected = np.array([3, 3, -np.inf, np.inf], dtype)
    result = reduce_one(OPERATOR, values, axes=1)
    np.testing.assert_array_equal(result, expected, strict=True)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("rows", range(1, 10))
def test_nan_hides_nothing_of_other_rows(dtype: str, rows: int) -> None:
    values = numbers(dtype, (rows, 50), rows)
    values[0, :20] = values[rows // 2, 10:30] = np.nan
    values[:, 7] = np.nan
    expected = np.where(np.isnan(values), -np.inf, values).max(0).astype(dtype)
    result = reduce_one(OPERATOR, values, axes=0)
    np.testing.assert_array_equal(result, expected, strict=True)


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_empty_arrays(dtype: str) -> None:
    kind = np.dtype(dtype).kind
    limit = False if kind == "b" else (np.finfo if kind == "f" else np.iinfo)(dtype).min
    result = reduce_one(OPERATOR, np.zeros((0, 2), dtype), axes=0)
    np.testing.assert_array_equal(result, np.array([limit, limit], dtype), strict=True)


def test_layouts() -> None:
    reducing.check_layouts(OPERATOR)


def test_wrong_axes() -> None:
    reducing.check_wrong_axes(OPERATOR)
