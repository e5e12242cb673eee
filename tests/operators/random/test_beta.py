"""Random numbers of beta distribution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dali_core import fn, types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import Example, images, pipeline

EXAMPLES = [
    Example("default"),
    Example("parameters", (), {"alpha": 2.0, "beta": 0.5, "shape": (2, 3)}),
    Example("like", [images()], {"alpha": 0.3, "dtype": types.FLOAT64}),
]


def draw(batch_size: int = 1, seed: int = 5, **arguments: Any) -> np.ndarray:
    with pipeline(batch_size=batch_size, seed=seed) as made:
        with made:
            made.set_outputs(fn.random.beta(**arguments))
        return made.run()[0].as_array()


# Distribution functions that have a closed form.
CLOSED_FORMS: dict[tuple[float, float], Callable[[np.ndarray], np.ndarray]] = {
    (1.0, 1.0): lambda x: x,
    (3.0, 1.0): lambda x: x**3,
    (0.25, 1.0): lambda x: x**0.25,
    (1.0, 5.0): lambda x: 1 - (1 - x) ** 5,
    (2.0, 2.0): lambda x: x**2 * (3 - 2 * x),
    (0.5, 0.5): lambda x: 2 / np.pi * np.arcsin(np.sqrt(x)),
}


@pytest.mark.parametrize(("alpha", "beta"), CLOSED_FORMS)
def test_distribution(alpha: float, beta: float) -> None:
    count = 30_000
    drawn = np.sort(draw(shape=count, alpha=alpha, beta=beta, dtype=types.FLOAT64).ravel())
    assert drawn[0] >= 0
    assert drawn[-1] <= 1
    expected = CLOSED_FORMS[alpha, beta](drawn)
    steps = np.arange(count + 1) / count
    distance = max(np.abs(steps[1:] - expected).max(), np.abs(steps[:-1] - expected).max())
    # Kolmogorov-Smirnov test, at a level of 0.001.
    assert distance * np.sqrt(count) < 1.95


@pytest.mark.parametrize(("alpha", "beta"), [(2.5, 7.0), (0.3, 0.7), (40.0, 3.0), (1000.0, 1000.0)])
def test_moments(alpha: float, beta: float) -> None:
    count = 50_000
    drawn = draw(shape=count, alpha=alpha, beta=beta).astype(np.float64)
    total = alpha + beta
    variance = alpha * beta / (total**2 * (total + 1))
    assert abs(drawn.mean() - alpha / total) < 4 * np.sqrt(variance / count)
    assert abs(drawn.var() / variance - 1) < 0.05


def test_tiny_and_huge_parameters() -> None:
    for tiny in (1e-3, 1e-20):
        drawn = draw(shape=1000, alpha=tiny, beta=tiny)
        assert np.isin(drawn, (0, 1)).mean() > 0.8
        assert 0.4 < drawn.mean() < 0.6
    assert (draw(shape=100, alpha=3e38, beta=1.0) == 1).all()


def test_types() -> None:
    assert draw().dtype == np.float32
    exact = draw(shape=1000, dtype=types.FLOAT64)
    assert (exact != exact.astype(np.float32)).mean() > 0.9
    np.testing.assert_array_equal(draw(shape=1000), exact.astype(np.float32))


def test_parameters_of_each_sample() -> None:
    alphas = [np.float32(number) for number in (0.01, 1, 1000)]
    with pipeline() as made:
        with made:
            node = fn.external_source(source=lambda: alphas)
            made.set_outputs(fn.random.beta(alpha=node, shape=500))
        means = made.run()[0].as_array().mean(axis=1)
    assert means[0] < 0.05
    assert abs(means[1] - 0.5) < 0.06
    assert means[2] > 0.99


def test_seeds() -> None:
    first, again, other = (draw(shape=100, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).all()


@pytest.mark.parametrize("value", [0.0, -1.0, float("inf"), float("nan")])
@pytest.mark.parametrize("name", ["alpha", "beta"])
def test_invalid_parameters(name: str, value: float) -> None:
    with pytest.raises(ArgumentValueError, match=f"{name!r} must be above 0 and finite"):
        draw(**{name: value})
    with pipeline() as made:
        with made:
            node = fn.external_source(source=lambda: [np.float32(value)] * 3)
            made.set_outputs(fn.random.beta(**{name: node}))
        with pytest.raises(SampleError, match=f"{name!r} must be above 0 and finite"):
            made.run()


@pytest.mark.parametrize("dtype", [types.INT32, types.FLOAT16, types.BOOL])
def test_invalid_types(dtype: types.DALIDataType) -> None:
    with pytest.raises(ArgumentValueError, match="'dtype' must be FLOAT or FLOAT64"):
        draw(dtype=dtype)
