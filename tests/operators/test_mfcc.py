"""Mel-frequency cepstral coefficients."""

from __future__ import annotations

import numpy as np
import pytest

from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.signals import random, spectra
from tests.operators.suite import Example, run_on

EXAMPLES = [
    Example("defaults", [spectra(bins=40)]),
    Example("rows", [spectra("tf", bins=13)], {"axis": 1, "dct_type": 4, "normalize": True}),
    Example("liftered", [spectra(bins=40)], {"n_mfcc": 13, "dct_type": 3, "lifter": 22.0}),
]


def matrix_of(kind: int, count: int) -> np.ndarray:
    """Return the matrix of a discrete cosine transform, by its definition."""
    k, n = np.arange(count)[:, None], np.arange(count)[None]
    if kind == 1:
        matrix = np.cos(np.pi * n * k / (count - 1))
        matrix[:, [0, -1]] /= 2
        return matrix
    if kind == 3:
        matrix = np.cos(np.pi / count * n * (k + 0.5))
        matrix[:, 0] /= 2
        return matrix
    return np.cos(np.pi / count * (n + 0.5) * (k if kind == 2 else k + 0.5))


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_types(kind: int) -> None:
    data = random([23, 601])
    (result,) = run_on("mfcc", [data], dct_type=kind, n_mfcc=17)
    expected = (matrix_of(kind, 23) @ data)[:17]
    np.testing.assert_allclose(result, expected, atol=2e-5)
    (across,) = run_on("mfcc", [data.T.copy()], dct_type=kind, n_mfcc=17, axis=1)
    np.testing.assert_array_equal(across, result.T)
    (liftered,) = run_on("mfcc", [data], dct_type=kind, n_mfcc=17, lifter=5.0)
    factors = 1 + 2.5 * np.sin(np.pi * np.arange(1, 18) / 5)
    np.testing.assert_allclose(liftered, expected * factors[:, None], atol=1e-4)


@pytest.mark.parametrize("kind", [2, 3, 4])
def test_orthonormal_basis(kind: int) -> None:
    data = np.eye(12, dtype=np.float32)
    (basis,) = run_on("mfcc", [data], dct_type=kind, n_mfcc=100, normalize=True)
    np.testing.assert_allclose(basis @ basis.T, np.eye(12), atol=1e-6)


def test_invalid_arguments_raise() -> None:
    with pytest.raises(ArgumentValueError, match="normalize must not be set where dct_type is 1"):
        run_on("mfcc", [random([3, 4])], dct_type=1, normalize=True)
    with pytest.raises(ArgumentValueError, match="'dct_type' must be from 1 to 4"):
        run_on("mfcc", [random([3, 4])], dct_type=5)
    with pytest.raises(SampleError, match="needs at least 2 frequencies"):
        run_on("mfcc", [random([1, 4])], dct_type=1)
    with pytest.raises(SampleError, match="axis must be a dimension of the input"):
        run_on("mfcc", [random([3, 4])], axis=2)
    with pytest.raises(SampleError, match="must be of type float32"):
        run_on("mfcc", [np.zeros((3, 4))])
