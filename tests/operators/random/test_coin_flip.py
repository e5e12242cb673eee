"""Random choices between 0 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import fn, types
from dali_core.errors import ArgumentValueError
from tests.operators.suite import Example, images, pipeline

EXAMPLES = [
    Example("default"),
    Example("probability", (), {"probability": 0.3, "shape": (2, 3)}),
    Example("like", [images()], {"dtype": types.BOOL}),
]


def flip(batch_size: int = 1, seed: int = 5, **arguments: Any) -> np.ndarray:
    with pipeline(batch_size=batch_size, seed=seed) as made:
        with made:
            made.set_outputs(fn.random.coin_flip(**arguments))
        return made.run()[0].as_array()


@pytest.mark.parametrize("probability", [0.001, 0.1, 0.5, 0.9])
def test_share_of_ones(probability: float) -> None:
    count = 200_000
    ones = int(flip(shape=count, probability=probability).sum())
    deviation = np.sqrt(count * probability * (1 - probability))
    assert abs(ones - count * probability) < 4 * deviation


def test_certain_outcomes() -> None:
    for probability, value in ((0.0, 0), (1.0, 1)):
        assert (flip(shape=1000, probability=probability) == value).all()


def test_runs_are_as_long_as_they_should_be() -> None:
    values = flip(shape=100_000).ravel()
    changes = int((values[1:] != values[:-1]).sum())
    assert abs(changes - 50_000) < 4 * np.sqrt(25_000)


def test_samples_are_independent_of_each_other() -> None:
    values = flip(batch_size=4000, shape=16)
    counts = np.bincount(values.sum(axis=1), minlength=17)
    mean = (counts * np.arange(17)).sum() / 4000
    variance = (counts * (np.arange(17) - mean) ** 2).sum() / 4000
    assert abs(mean - 8) < 0.15
    assert abs(variance - 4) < 0.4


def test_seeds() -> None:
    first, again, other = (flip(shape=200, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert 50 < (first != other).sum() < 150


@pytest.mark.parametrize("dtype", [types.BOOL, types.UINT8, types.INT64, types.FLOAT])
def test_types(dtype: types.DALIDataType) -> None:
    values = flip(shape=100, dtype=dtype)
    assert values.dtype == types.to_numpy_type(dtype)
    np.testing.assert_array_equal(values, flip(shape=100).astype(values.dtype))


def test_integers_and_scalars_by_default() -> None:
    with pipeline() as made:
        with made:
            made.set_outputs(fn.random.coin_flip())
        (batch,) = made.run()
        assert batch.dtype == types.INT32
        assert batch.shape() == [()] * 3


def test_probability_of_each_sample() -> None:
    with pipeline(batch_size=4) as made:
        with made:
            node = fn.external_source(source=lambda: [np.float32(i % 2) for i in range(4)])
            made.set_outputs(fn.random.coin_flip(probability=node))
        assert made.run()[0].as_array().ravel().tolist() == [0, 1, 0, 1]


def test_shape_excludes_an_input() -> None:
    with pipeline() as made:
        with made:
            node = fn.external_source(source=lambda: [np.zeros(3)] * 3)
            made.set_outputs(fn.random.coin_flip(node, shape=3))
        with pytest.raises(ArgumentValueError, match="shape must not be given together with"):
            made.run()
