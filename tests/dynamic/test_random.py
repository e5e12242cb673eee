"""Generators of random numbers and what draws from them."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dali_core.dynamic as dd
from dali_core.dynamic.random import RNG


@given(st.integers(-(2**70), 2**70), st.integers(0, 1000), st.integers(0, 5))
def test_states_and_clones_continue_alike(seed: int, skipped: int, count: int) -> None:
    rng = RNG(seed)
    rng.advance(skipped)
    for _ in range(count):
        assert 0 <= rng() < 2**32
    others = [rng.clone(), RNG(state=rng.get_state()), RNG(seed % 2**64)]
    others[2].advance(skipped + count)
    restored = RNG()
    restored.state = rng.state
    expected = [rng() for _ in range(3)]
    for other in (*others, restored):
        assert [other() for _ in range(3)] == expected


def test_numbers_are_spread() -> None:
    rng = RNG(3)
    numbers = np.array([rng() for _ in range(4000)], np.uint64)
    counts = np.bincount((numbers >> np.uint64(28)).astype(int), minlength=16)
    assert counts.min() > 180
    assert len(set(numbers.tolist())) > 3990


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: RNG("a"), TypeError),
        (lambda: RNG(1.5), TypeError),
        (lambda: RNG(1, state=RNG(2).state), ValueError),
        (lambda: RNG(state="rubbish"), ValueError),
        (lambda: RNG(state="x" * 16 + ":" + "0" * 16), ValueError),
        (lambda: RNG(state=3), TypeError),
        (lambda: RNG(1).advance(-1), ValueError),
        (lambda: RNG(1).advance("a"), TypeError),
    ],
)
def test_wrong_seeds_and_states(make: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=r"test_random\.py:\d+"):
        make()


def _drawn(rng: RNG, size: int | None) -> list[float]:
    values = dd.random.uniform(range=[0.0, 1.0], batch_size=size, rng=rng)
    return [values.item()] if size is None else [value.item() for value in values]


@given(st.integers(1, 20), st.integers(1, 20))
def test_first_samples_are_alike_for_every_batch_size(one: int, other: int) -> None:
    first, second = _drawn(RNG(7), one), _drawn(RNG(7), other)
    common = min(one, other)
    assert first[:common] == second[:common]
    assert len(set(first)) == one
    assert _drawn(RNG(7), None) == first[:1]


def test_each_call_advances_by_the_same_amount() -> None:
    for size in (None, 1, 30):
        rng, counted = RNG(2), RNG(2)
        dd.random.normal(batch_size=size, rng=rng)
        counted.advance(7)
        assert rng.state == counted.state


def test_order_of_evaluation_makes_no_difference() -> None:
    def values() -> list[Any]:
        dd.random.set_seed(5)
        return [dd.random.uniform(batch_size=3), dd.random.coin_flip(batch_size=3)]

    forward, backward = values(), values()
    backward[1].evaluate()
    for one, other in zip(forward, backward, strict=True):
        np.testing.assert_array_equal(
            np.asarray(dd.as_tensor(one)), np.asarray(dd.as_tensor(other))
        )


def test_draws_are_independent_of_other_calls_in_the_program() -> None:
    data = dd.as_batch(np.zeros((4, 2, 2, 1), np.float32))
    dd.random.set_seed(6)
    angle = dd.random.uniform(range=[-90.0, 90.0], batch_size=4)
    turned = dd.rotate(data + 1, angle=angle, keep_size=True)
    turned.evaluate()
    together = np.asarray(dd.as_tensor(angle))
    dd.random.set_seed(6)
    alone = np.asarray(dd.as_tensor(dd.random.uniform(range=[-90.0, 90.0], batch_size=4)))
    np.testing.assert_array_equal(together, alone)


def test_generators_of_threads_differ() -> None:
    dd.random.set_seed(1)
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(dd.random.get_default_rng()()))
    thread.start()
    thread.join()
    assert found[0] != dd.random.get_default_rng()()


def test_distributions() -> None:
    dd.random.set_seed(9)
    uniform = dd.random.uniform(shape=[20000])
    array = np.asarray(uniform)
    assert str(uniform.dtype) == "f32"
    assert -1 <= array.min() < -0.99
    assert 0.99 < array.max() < 1
    flips = dd.random.coin_flip(shape=[1000], probability=dd.as_tensor(1.0))
    assert np.asarray(flips).tolist() == [1] * 1000
