"""Random numbers of normal distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dali_core import fn, types
from dali_core.errors import ArgumentValueError
from tests.operators.suite import Example, images, pipeline

EXAMPLES = [
    Example("default"),
    Example("scaled", (), {"mean": 5.0, "stddev": 0.5, "shape": (2, 3)}),
    Example("integers", (), {"mean": 100, "stddev": 20, "dtype": types.UINT8, "shape": 5}),
    Example("like", [images()], {"dtype": types.FLOAT64}),
]


def draw(batch_size: int = 1, seed: int = 5, **arguments: Any) -> np.ndarray:
    """Draw one batch, as one dimension."""
    with pipeline(batch_size=batch_size, seed=seed) as made:
        with made:
            made.set_outputs(fn.random.normal(**arguments))
        return made.run()[0].as_array().ravel()


def distance_to_normal(numbers: np.ndarray) -> float:
    """Return the Kolmogorov-Smirnov statistic, times the root of the number of values."""
    ordered = np.sort(numbers.astype(np.float64))
    count = len(ordered)
    expected = np.array([0.5 * math.erfc(-value / math.sqrt(2)) for value in ordered])
    steps = np.arange(count + 1) / count
    above = np.abs(steps[1:] - expected).max()
    below = np.abs(steps[:-1] - expected).max()
    return float(max(above, below) * math.sqrt(count))


@pytest.mark.parametrize("dtype", [types.FLOAT, types.FLOAT64])
def test_distribution(dtype: types.DALIDataType) -> None:
    numbers = draw(shape=50_001, dtype=dtype)
    assert distance_to_normal(numbers) < 1.9
    assert abs(numbers.mean()) < 0.02
    assert abs(numbers.std() - 1) < 0.015
    assert 3.5 < np.abs(numbers).max() < 6


def test_distribution_of_first_numbers() -> None:
    assert distance_to_normal(draw(batch_size=5000)) < 1.9


def test_halves() -> None:
    assert distance_to_normal(draw(shape=20_000, dtype=types.FLOAT16)) < 1.9


def test_neighbours_are_independent() -> None:
    numbers = draw(shape=100_000)
    for distance in (1, 2, 3, 4):
        for left, right in ((numbers, numbers), (numbers**2, numbers**2)):
            assert abs(np.corrcoef(left[:-distance], right[distance:])[0, 1]) < 0.012


def test_scale() -> None:
    standard = draw(shape=1000, dtype=types.FLOAT64)
    scaled = draw(shape=1000, mean=3.0, stddev=0.5, dtype=types.FLOAT64)
    np.testing.assert_allclose(scaled, 3 + 0.5 * standard, rtol=1e-12)
    np.testing.assert_allclose(draw(shape=1000), standard, rtol=1e-6)
    assert (draw(shape=10, mean=2.5, stddev=0) == 2.5).all()
    with pytest.raises(ArgumentValueError, match=r"'stddev' must be at least 0 and finite"):
        draw(stddev=-1.0)


def test_double_precision_has_all_its_bits() -> None:
    numbers = draw(shape=1000, dtype=types.FLOAT64)
    assert (numbers != numbers.astype(np.float32)).mean() > 0.99


def test_integers_are_rounded_and_saturate() -> None:
    floats = draw(shape=1000, mean=100, stddev=100).astype(np.float64)
    integers = draw(shape=1000, mean=100, stddev=100, dtype=types.UINT8)
    rounded = np.copysign(np.floor(np.abs(floats) + 0.5), floats)
    np.testing.assert_array_equal(integers, np.clip(rounded, 0, 255))
    assert {0, 255} <= set(integers.tolist())
    for mean, expected in ((2.5, 3), (-1.5, -2)):
        assert draw(shape=1, mean=mean, stddev=0, dtype=types.INT32)[0] == expected


def test_seeds() -> None:
    first, again, other = (draw(shape=100, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).all()


def test_mean_of_each_sample() -> None:
    means = [np.float32(number) for number in range(3)]
    with pipeline() as made:
        with made:
            node = fn.external_source(source=lambda: means)
            made.set_outputs(fn.random.normal(mean=node, stddev=0.01, shape=50))
        numbers = made.run()[0].as_array()
    assert (np.abs(numbers - np.arange(3)[:, None]) < 0.1).all()


def test_scalars_by_default() -> None:
    with pipeline() as made:
        with made:
            made.set_outputs(fn.random.normal(), fn.random.normal(shape=[0, 2]))
        numbers, nothing = made.run()
        assert numbers.shape() == [()] * 3
        assert numbers.dtype == types.FLOAT
        assert nothing.shape() == [(0, 2)] * 3


def test_invalid_shapes() -> None:
    with pytest.raises(ArgumentValueError, match="'shape', entry 1 must be at least 0"):
        draw(shape=(2, -1))
    with pipeline() as made, made:
        like = fn.external_source(source=lambda: [np.zeros(2)] * 3)
        made.set_outputs(fn.random.normal(like, shape=3))
        with pytest.raises(ArgumentValueError, match="shape must not be given together"):
            made.build()
