"""Spectra along a dimension."""

from __future__ import annotations

import numpy as np
import pytest

from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.signals import random, signals
from tests.operators.suite import Example, images, run_on

EXAMPLES = [
    Example("rows", [images("HWC", "float32")], {"axis": 1}),
    Example("columns", [images("HW", "float32")], {"axis": 0, "nfft": 15, "power": 1}),
    Example("signals", [signals()]),
]


def test_shapes() -> None:
    generator = np.random.default_rng(2)
    for case in range(30):
        shape = generator.integers(1, 40, generator.integers(1, 4))
        data = random(list(shape), case)
        axis = int(generator.integers(-len(shape), len(shape)))
        nfft = int(generator.integers(1, 60)) if case % 2 else None
        arguments = {} if nfft is None else {"nfft": nfft}
        (result,) = run_on("power_spectrum", [data], axis=axis, **arguments)
        expected = np.abs(np.fft.rfft(data.astype(float), nfft, axis)) ** 2
        assert result.shape == expected.shape
        np.testing.assert_allclose(result, expected, atol=4e-6 * max(expected.max(), 1))


def test_long_primes() -> None:
    """No size takes time in proportion to its square."""
    data = random([100_003])
    (result,) = run_on("power_spectrum", [data])
    expected = np.abs(np.fft.rfft(data.astype(float))) ** 2
    np.testing.assert_allclose(result, expected, atol=1e-5 * expected.max())


def test_invalid_arguments_raise() -> None:
    with pytest.raises(SampleError, match="axis must be a dimension of the input"):
        run_on("power_spectrum", [random([3, 4])], axis=2)
    with pytest.raises(SampleError, match="signals must have 1 to"):
        run_on("power_spectrum", [random([3, 0])])
    with pytest.raises(SampleError, match="must be of type float32"):
        run_on("power_spectrum", [np.zeros(4)])
    with pytest.raises(ArgumentValueError, match="'nfft' must be from 1"):
        run_on("power_spectrum", [random([4])], nfft=0)
