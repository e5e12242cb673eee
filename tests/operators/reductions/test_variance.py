"""Variances around means."""

from __future__ import annotations

import numpy as np
import pytest

from dali_core import fn
from dali_core.errors import SampleError
from tests.operators.reductions import reducing
from tests.operators.reductions.reducing import SHAPES, all_axes, reduce_one
from tests.operators.suite import ALL_TYPES, Example, Input, images, numbers, pipeline

OPERATOR = "reductions.variance"
MEANS = Input(lambda number: np.float32([number, 1, -1]))
EXAMPLES = [
    Example("everything", [images(), Input(lambda number: np.float32(number))]),
    Example("channels", [images("HWC", "int16"), MEANS], {"axes": [0, 1], "ddof": 1}),
    Example("names", [images("CHW", "float32"), MEANS], {"axis_names": "HW", "keep_dims": True}),
]


def exact(
    values: np.ndarray, axes: tuple[int, ...] | None, mean: np.ndarray, ddof: int = 0
) -> np.ndarray:
    wide = values.astype(np.float64)
    squares = (wide - mean) ** 2
    count = wide.size / max(1, squares.sum(axes).size)
    return np.asarray(squares.sum(axes) / (count - ddof))


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32"])
def test_axes(dtype: str) -> None:
    for number, shape in enumerate(SHAPES):
        values = numbers(dtype, shape, number)
        for axes in all_axes(len(shape)):
            if axes == ():
                continue
            mean = np.asarray(values.astype(np.float64).mean(axes, keepdims=True), np.float32)
            arguments = {} if axes is None else {"axes": list(axes)}
            expected = exact(values, axes, mean)
            for keep_dims in (False, True):
                means = mean if keep_dims else mean.reshape(expected.shape)
                result = reduce_one(OPERATOR, values, means, keep_dims=keep_dims, **arguments)
                assert result.shape == (mean.shape if keep_dims else expected.shape)
                reducing.check_equal(result.reshape(expected.shape), expected)


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_types(dtype: str) -> None:
    values = numbers(dtype, (50, 70, 3), 1)
    for means in (np.float32([1, 2, 3]), np.int64([-5, 0, 5]), np.float64([0.5, 0.25, 0])):
        for ddof in (0, 1, -2, 7):
            result = reduce_one(OPERATOR, values, means, axes=[0, 1], ddof=ddof)
            assert result.dtype == ("float64" if dtype == "float64" else "float32")
            np.testing.assert_allclose(result, exact(values, (0, 1), means, ddof), rtol=1e-6)


def test_one_mean_for_all_outputs() -> None:
    values = numbers("uint8", (4, 30, 3), 1)
    for mean in (np.float32(100), np.float32([100]), np.float32([[[100]]])):
        for axes in ([0], [1, 2], [2]):
            result = reduce_one(OPERATOR, values, mean, axes=axes)
            reducing.check_equal(result, exact(values, tuple(axes), np.float64(100)))


@pytest.mark.parametrize("mean", [3, 2.5, True])
def test_mean_as_a_number(mean: float) -> None:
    values = numbers("float32", (4, 5), 1)
    with pipeline(batch_size=1) as made:
        with made:
            data = fn.external_source(source=lambda: [values])
            made.set_outputs(fn.reductions.variance(data, mean))
        (batch,) = made.run()
    reducing.check_equal(np.array(batch.at(0)), exact(values, None, np.float64(mean)))


def test_without_freedom() -> None:
    values = np.float32([5, 5])
    assert np.isnan(reduce_one(OPERATOR, values, np.float32(5), ddof=2))
    assert reduce_one(OPERATOR, values, np.float32(4), ddof=2) == np.inf
    assert np.isnan(reduce_one(OPERATOR, values[:0], np.float32(4)))


def test_nothing_to_reduce() -> None:
    values = numbers("uint8", (3, 4), 0)
    result = reduce_one(OPERATOR, values, np.float32(3), axes=[], ddof=1)
    np.testing.assert_array_equal(result, np.zeros((3, 4), np.float32), strict=True)


def test_layouts() -> None:
    reducing.check_layouts(OPERATOR, Input(lambda _: np.float32(0)))


def test_means_that_do_not_fit() -> None:
    with pytest.raises(SampleError, match=r"the mean must be one number, or one for each of the 3"):
        reduce_one(OPERATOR, np.zeros((4, 3)), np.float32([1, 2]), axes=0)
    with pytest.raises(SampleError, match="the mean must be one number"):
        reduce_one(OPERATOR, np.zeros((4, 3)), np.zeros(0), axes=0)
