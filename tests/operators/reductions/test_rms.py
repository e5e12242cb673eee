"""Roots of means of squares of elements."""

from __future__ import annotations

import numpy as np
import pytest

from dali_core import types
from tests.operators.reductions import reducing
from tests.operators.reductions.reducing import reduce_one
from tests.operators.suite import ALL_TYPES, INTEGERS, Example, images, numbers, type_of

OPERATOR = "reductions.rms"
EXAMPLES = [*reducing.EXAMPLES, Example("cut", [images()], {"dtype": types.UINT8})]


def exact(values: np.ndarray, axes: tuple[int, ...] | None) -> np.ndarray:
    return np.asarray(np.sqrt(np.square(values.astype(np.float64)).mean(axes)))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "float32"])
def test_axes(dtype: str) -> None:
    reducing.check_axes(OPERATOR, dtype, exact)


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_types(dtype: str) -> None:
    values = numbers(dtype, (50, 70, 3), 1)
    expected = exact(values, (0, 1))
    for target in (None, "float32", "float64"):
        result = reduce_one(OPERATOR, values, axes=[0, 1], dtype=target and type_of(target))
        assert result.dtype == (target or ("float64" if dtype == "float64" else "float32"))
        np.testing.assert_allclose(result, expected, rtol=1e-6)


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint32", "int64"])
def test_integers_wrap_around_before_they_are_divided(dtype: str, target: str) -> None:
    values = numbers(dtype, (300, 5), 2)
    result = reduce_one(OPERATOR, values, axes=[0], dtype=type_of(target))
    limits = np.iinfo(target)
    for column, mine in zip(values.T, result.tolist(), strict=True):
        wrapped = sum(int(value) ** 2 for value in column) % 2**limits.bits
        total = wrapped - 2**limits.bits if wrapped > limits.max else wrapped
        if total < 0:
            assert mine == 0
        else:
            assert mine == pytest.approx(int((total // 300) ** 0.5), rel=1e-15)


def test_floats_round_and_saturate_as_integers() -> None:
    values = np.float32([[1.5, 1.5, 1.5], [300, 300, 300]])
    result = reduce_one(OPERATOR, values, axes=[1], dtype=types.UINT8)
    assert result.tolist() == [2, 255]


def test_empty_arrays() -> None:
    assert np.isnan(reduce_one(OPERATOR, np.zeros((0, 3), np.float32), axes=0)).all()
    assert reduce_one(OPERATOR, np.zeros((0,), np.int32), dtype=types.INT64) == 0


def test_layouts() -> None:
    reducing.check_layouts(OPERATOR)


def test_wrong_axes() -> None:
    reducing.check_wrong_axes(OPERATOR)


def test_no_bool_output() -> None:
    reducing.check_no_bool_output(OPERATOR)
