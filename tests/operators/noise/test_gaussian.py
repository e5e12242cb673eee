"""Noise of normal distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dali_core.errors import SampleError
from tests.operators.suite import FLOATS, INTEGERS, Example, images, numbers, run_on

EXAMPLES = [
    Example("bytes", [images()], {"mean": -3.0, "stddev": 20.0}),
    Example("floats", [images("CHW", "float32")], {"stddev": 0.5}),
    Example("wide", [images("HW", "int64")]),
    Example("halves", [images("FHWC", "float16")], {"stddev": 2.0}),
]


def add_noise(values: np.ndarray, seed: int = 5, **arguments: Any) -> np.ndarray:
    return run_on("noise.gaussian", [values], seed=seed, **arguments)[0]


def distance_to_normal(values: np.ndarray) -> float:
    """Return the Kolmogorov-Smirnov statistic, times the root of the number of values."""
    ordered = np.sort(values.astype(np.float64))
    count = len(ordered)
    expected = np.array([0.5 * math.erfc(-value / math.sqrt(2)) for value in ordered])
    steps = np.arange(count + 1) / count
    above = np.abs(steps[1:] - expected).max()
    below = np.abs(steps[:-1] - expected).max()
    return float(max(above, below) * math.sqrt(count))


def test_distribution() -> None:
    values = add_noise(np.zeros(100_003, np.float32))
    assert distance_to_normal(values) < 1.9
    assert abs(values.mean()) < 0.015
    assert abs(values.std() - 1) < 0.01
    assert abs((values**4).mean() - 3) < 0.15
    assert 3.9 < np.abs(values).max() < 6.8


def test_tails() -> None:
    values = np.abs(add_noise(np.zeros(2_000_000, np.float32)))
    for distance in (2.0, 3.0, 4.0):
        expected = math.erfc(distance / math.sqrt(2))
        deviation = math.sqrt(expected / len(values))
        assert abs((values > distance).mean() - expected) < 5 * deviation


def test_numbers_are_independent() -> None:
    values = add_noise(np.zeros(200_000, np.float32))
    for distance in (1, 2, 3, 4, 64, 128, 192, 256):
        for left, right in ((values, values), (values**2, values**2)):
            assert abs(np.corrcoef(left[:-distance], right[distance:])[0, 1]) < 0.012


def test_length_does_not_matter() -> None:
    many = add_noise(np.zeros(1000, np.float32))
    for count in (0, 1, 2, 255, 256, 257):
        np.testing.assert_array_equal(add_noise(np.zeros(count, np.float32)), many[:count])


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_types(dtype: str) -> None:
    values = (numbers("uint8", (40, 30), 0) // 2).astype(dtype)
    normals = add_noise(np.zeros((40, 30), np.float32)).astype(np.float64)
    exact = values.astype(np.float64) + 3 + 5 * normals
    result = add_noise(values, mean=3.0, stddev=5.0)
    assert result.dtype == dtype
    if np.dtype(dtype).kind == "f":
        np.testing.assert_allclose(
            result, exact, rtol=1e-3 if dtype == "float16" else 1e-5, atol=1e-3
        )
    else:
        limits = np.iinfo(dtype)
        clipped = np.clip(exact, limits.min, limits.max)
        assert np.abs(result.astype(np.float64) - clipped).max() <= 0.5001


def test_wide_integers_keep_their_digits() -> None:
    values = np.array([2**31 - 7, -(2**31) + 7], np.int32)
    assert add_noise(values, stddev=0.0).tolist() == values.tolist()
    assert add_noise(np.array([2**40 + 1]), stddev=0.0).tolist() == [2**40 + 1]


def test_integers_round_and_saturate() -> None:
    values = np.int16([[0, 1, -2, 32767, -32768]])
    assert add_noise(values, mean=0.5, stddev=0).tolist() == [[1, 2, -2, 32767, -32768]]
    assert add_noise(np.uint8([3, 250]), mean=300, stddev=0).tolist() == [255, 255]
    assert add_noise(np.uint8([3, 250]), mean=-9, stddev=0).tolist() == [0, 241]


def test_samples_differ() -> None:
    first, second = run_on("noise.gaussian", [np.zeros(1000, np.float32)] * 2)
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.15
    assert (first != second).any()


def test_booleans() -> None:
    with pytest.raises(SampleError, match="the input must consist of numbers"):
        add_noise(np.zeros(3, bool))
