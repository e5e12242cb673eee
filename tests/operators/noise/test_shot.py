"""Noise of counted events."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import FLOATS, INTEGERS, Example, images, run_on, shares_memory

EXAMPLES = [
    Example("bytes", [images()], {"factor": 20.0}),
    Example("floats", [images("CHW", "float32")], {"factor": 0.05}),
    Example("wide", [images("HW", "int64")]),
    Example("off", [images()], {"factor": 0.0}),
]


def add_noise(values: np.ndarray, seed: int = 5, **arguments: Any) -> np.ndarray:
    return run_on("noise.shot", [values], seed=seed, **arguments)[0]


@pytest.mark.parametrize("mean", [0.01, 0.5, 3.0, 19.9, 20.1, 40.0, 200.0])
def test_distribution(mean: float) -> None:
    count = 40_000
    counts = add_noise(np.full(count, mean, np.float64), factor=1.0)
    largest = int(mean + 12 * math.sqrt(mean) + 12)
    observed = np.bincount(counts.astype(int), minlength=largest)
    k = np.arange(len(observed))
    logarithms = k * math.log(mean) - mean - np.array([math.lgamma(i + 1) for i in k])
    expected = count * np.exp(logarithms)
    likely = expected > 8
    chi_square = ((observed - expected) ** 2 / expected)[likely].sum()
    assert chi_square < likely.sum() + 5 * math.sqrt(2 * likely.sum())
    assert observed[~likely].sum() < 40 + 5 * expected[~likely].sum()


@pytest.mark.parametrize("mean", [1e4, 1e8, 1e12, 1e300])
def test_large_means(mean: float) -> None:
    counts = add_noise(np.full(20_000, mean, np.float64), factor=1.0)
    normal = (counts - mean) / math.sqrt(mean)
    assert abs(normal.mean()) < 0.04
    assert mean > 1e30 or abs(normal.std() - 1) < 0.03


@pytest.mark.parametrize("factor", [0.1, 12.0, 50.0])
def test_factor(factor: float) -> None:
    values = np.full(30_000, 90, np.float32)
    result = add_noise(values, factor=factor).astype(np.float64)
    multiples = result / factor
    np.testing.assert_allclose(multiples, np.rint(multiples), rtol=1e-5)
    assert abs(result.mean() - 90) < 5 * math.sqrt(90 * factor / 30_000)
    assert abs(result.std() / math.sqrt(90 * factor) - 1) < 0.03


def test_factor_by_default() -> None:
    np.testing.assert_array_equal(
        add_noise(np.full(99, 90.0)), add_noise(np.full(99, 90.0), factor=12.0)
    )


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_types(dtype: str) -> None:
    result = add_noise(np.full(9000, 60, dtype), factor=5.0)
    assert result.dtype == dtype
    assert set(np.unique(result).tolist()) <= {*range(0, 300, 5), 127}
    assert abs(result.astype(np.float64).mean() - 60) < 1


def test_integers_round_and_saturate() -> None:
    result = add_noise(np.full(500, 250, np.uint8), factor=2.5)
    assert result.max() == 255
    assert {0, 1, 2, 3, 4} >= set((result[result < 255] % 5).tolist())
    assert {3, 8} & set((result % 10).tolist())


def test_numbers_that_count_nothing() -> None:
    values = np.float32([-3, 0, -np.inf, np.nan])
    assert add_noise(values).tolist() == [0] * 4
    assert add_noise(np.float32([np.inf])).tolist() == [np.inf]
    with pytest.raises(ArgumentValueError, match=r"'factor' must be at least 0 and finite"):
        add_noise(np.float32([3, 5]), factor=-1.0)


def test_zero_copy_without_factor() -> None:
    assert shares_memory("noise.shot", factor=0.0)


def test_samples_differ() -> None:
    first, second = run_on("noise.shot", [np.full(500, 100, np.uint8)] * 2)
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.25


def test_booleans() -> None:
    with pytest.raises(SampleError, match="the input must consist of numbers"):
        add_noise(np.zeros(3, bool))
