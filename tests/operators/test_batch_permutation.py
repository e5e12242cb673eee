"""Random orders of the samples of a batch."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from dali_core import fn
from tests.operators.suite import Example, pipeline

EXAMPLES = [
    Example("order", (), {}, depends_on_batch=True),
    Example("cycle", (), {"no_fixed_points": True}, depends_on_batch=True),
    Example("repetitions", (), {"allow_repetitions": True}, depends_on_batch=True),
]
BOTH = {"allow_repetitions": True, "no_fixed_points": True}


def draw(size: int, count: int, **arguments: Any) -> np.ndarray:
    """Draw orders of `count` batches, one per row."""
    with pipeline(batch_size=size) as made:
        with made:
            made.set_outputs(fn.batch_permutation(**arguments))
        batches = [made.run()[0] for _ in range(count)]
        assert all(batch.shape() == [()] * size for batch in batches)
        return np.stack([batch.as_array() for batch in batches])


@pytest.mark.parametrize("size", [1, 2, 7, 64])
def test_orders(size: int) -> None:
    orders = draw(size, 20)
    assert orders.dtype == np.int32
    assert (np.sort(orders, axis=1) == np.arange(size)).all()
    assert size < 7 or len({order.tobytes() for order in orders}) == 20


@pytest.mark.parametrize("size", [2, 3, 8, 33])
def test_derangements(size: int) -> None:
    orders = draw(size, 20, no_fixed_points=True)
    assert (np.sort(orders, axis=1) == np.arange(size)).all()
    assert (orders != np.arange(size)).all()


def test_batch_of_one_sample() -> None:
    for arguments in ({}, {"no_fixed_points": True}, {"allow_repetitions": True}, BOTH):
        assert not draw(1, 3, **arguments).any()


@pytest.mark.parametrize(
    ("arguments", "num_orders"),
    [
        ({}, 6),
        ({"no_fixed_points": True}, 2),
        ({"allow_repetitions": True}, 27),
        (BOTH, 8),
    ],
)
def test_all_orders_are_equally_likely(arguments: dict[str, Any], num_orders: int) -> None:
    counts = Counter(map(tuple, draw(3, 2000, **arguments).tolist()))
    assert len(counts) == num_orders
    expected = 2000 / num_orders
    chi_square = sum((count - expected) ** 2 / expected for count in counts.values())
    assert chi_square < num_orders - 1 + 5 * np.sqrt(2 * num_orders)


def test_seeds() -> None:
    first, again, other = (draw(9, 3, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
