"""Random numbers of uniform distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from dali_core import fn, types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import Example, images, pipeline

EXAMPLES = [
    Example("default"),
    Example("range", (), {"range": (3, 5), "shape": (2, 3)}),
    Example("values", (), {"values": [1, 5, 7], "dtype": types.INT16, "shape": 4}),
    Example("like", [images()], {"dtype": types.FLOAT64}),
]


def draw(
    *inputs: Sequence[np.ndarray],
    batch_size: int = 1,
    num_batches: int = 1,
    seed: int = 5,
    **arguments: Any,
) -> np.ndarray:
    """Draw and join everything along the first dimension."""
    with pipeline(batch_size=batch_size, seed=seed) as made:
        with made:
            nodes = [fn.external_source(source=lambda data=data: data) for data in inputs]
            made.set_outputs(fn.random.uniform(*nodes, **arguments))
        batches = [made.run()[0] for _ in range(num_batches)]
        return np.concatenate(
            [np.atleast_1d(np.array(batch.at(i))) for batch in batches for i in range(len(batch))]
        )


def chi_square(counts: np.ndarray) -> float:
    """Return the chi-squared statistic for equally probable classes, per degree of freedom."""
    mean = counts.mean()
    return float(((counts - mean) ** 2).sum() / mean / (len(counts) - 1))


@pytest.mark.parametrize("dtype", [types.FLOAT, types.FLOAT64, types.FLOAT16])
def test_range_is_filled_evenly(dtype: types.DALIDataType) -> None:
    numbers = draw(shape=100_000, range=(-3, 5), dtype=dtype).astype(np.float64)
    assert numbers.min() >= -3
    assert numbers.max() <= 5
    counts, _ = np.histogram(numbers, 64, (-3, 5))
    assert 0.5 < chi_square(counts) < 1.6
    assert abs(numbers.mean() - 1) < 0.03
    assert abs(numbers.var() - 64 / 12) < 0.05


def test_neighbours_are_independent() -> None:
    numbers = draw(shape=100_000)
    for distance in (1, 2, 3, 4, 7):
        correlation = np.corrcoef(numbers[:-distance], numbers[distance:])[0, 1]
        assert abs(correlation) < 0.012
    samples = draw(shape=(1, 4), batch_size=100, num_batches=200)
    for column in range(3):
        assert abs(np.corrcoef(samples[:-1, column], samples[1:, column])[0, 1]) < 0.03
        assert abs(np.corrcoef(samples[:, column], samples[:, column + 1])[0, 1]) < 0.03


def test_end_is_outside_even_of_tiny_ranges() -> None:
    end = float(np.nextafter(np.float32(1), np.float32(2)))
    assert (draw(shape=1000, range=(1.0, end)) == 1).all()
    wide = draw(shape=1000, range=(-3e38, 3e38))
    assert np.isfinite(wide).all()
    assert wide.min() < -2e38 < 2e38 < wide.max()


def test_double_precision_has_all_its_bits() -> None:
    numbers = draw(shape=1000, dtype=types.FLOAT64)
    assert (numbers != numbers.astype(np.float32)).mean() > 0.99


def test_integers_are_rounded_numbers() -> None:
    counts = np.bincount(draw(shape=100_000, range=(0, 10), dtype=types.INT32))
    assert len(counts) == 11
    assert 0.2 < chi_square(counts[1:10]) < 3.3
    assert 0.3 < chi_square(np.array([counts[0] * 2, counts[10] * 2, counts[5]])) < 5
    numbers = draw(shape=1000, range=(-1000, 1000), dtype=types.UINT8)
    assert (numbers == 0).mean() > 0.4
    assert (numbers == 255).mean() > 0.3


def test_values_have_equal_probability() -> None:
    values = [-2.5, 0.0, 1e6, 7.25, 3.0]
    numbers = draw(shape=50_000, values=values)
    assert set(numbers.tolist()) == set(values)
    _, counts = np.unique(numbers, return_counts=True)
    assert chi_square(counts) < 3


def test_values_take_precedence_over_the_range() -> None:
    assert (draw(shape=10, values=3, range=(0, 1)) == 3).all()


def test_seeds() -> None:
    first, again, other = (draw(shape=100, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).all()


def test_operators_and_samples_draw_differently() -> None:
    with pipeline(batch_size=4) as made:
        with made:
            made.set_outputs(fn.random.uniform(shape=50), fn.random.uniform(shape=50))
        batches = [output.as_array() for _ in range(3) for output in made.run()]
    rows = np.concatenate(batches)
    assert len(np.unique(rows)) > 0.999 * rows.size


def test_shape_of_each_sample() -> None:
    shapes = [np.int32([2, 3]), np.int32([0, 3]), np.int32([1, 1])]
    with pipeline() as made:
        with made:
            node = fn.external_source(source=lambda: shapes)
            made.set_outputs(fn.random.uniform(shape=node))
        (batch,) = made.run()
        assert batch.shape() == [(2, 3), (0, 3), (1, 1)]


def test_range_of_each_sample() -> None:
    ranges = [np.float32([number, number + 0.5]) for number in range(3)]
    with pipeline() as made:
        with made:
            node = fn.external_source(source=lambda: ranges)
            made.set_outputs(fn.random.uniform(range=node, shape=100))
        numbers = made.run()[0].as_array()
    assert (np.floor(numbers) == np.arange(3)[:, None]).all()
    assert (numbers % 1 < 0.5).all()


def test_scalars_by_default() -> None:
    with pipeline() as made:
        with made:
            made.set_outputs(fn.random.uniform(), fn.random.uniform(shape=[]))
        for batch in made.run():
            assert batch.shape() == [()] * 3
            assert batch.dtype == types.FLOAT


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"range": 3}, "'range' must have 2 numbers"),
        ({"range": (1, 2, 3)}, "'range' must have 2 numbers"),
        ({"range": (1, 1)}, "range must end above its start"),
        ({"range": (0, float("inf"))}, "'range', entry 1 must be finite"),
        ({"range": (float("nan"), 1)}, "'range', entry 0 must be finite"),
        ({"values": []}, "'values' must have at least 1 number"),
    ],
)
def test_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        draw(**arguments)


def test_shape_excludes_an_input() -> None:
    with pytest.raises(ArgumentValueError, match="shape must not be given together with an input"):
        draw([np.zeros(3)], shape=3)


def test_invalid_samples() -> None:
    with pytest.raises(ArgumentValueError, match="'shape', entry 1 must be at least 0"):
        draw(shape=(2, -1))
    with pipeline() as made:
        with made:
            node = fn.external_source(source=lambda: [np.float32([1, 0])] * 3)
            made.set_outputs(fn.random.uniform(range=node))
        with pytest.raises(SampleError, match="range must end above its start"):
            made.run()
