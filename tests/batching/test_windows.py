"""The rules by which windows become bins, against the plainest code that follows their words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dali_core import batching
from dali_core.batching import Bucket, Budget, Pack
from dali_core.errors import ArgumentConflictError, ArgumentTypeError, ArgumentValueError

UNTYPED: Any = batching
EXAMPLE = [3, 6, 5, 2, 8, 1]
LENGTHS = st.lists(st.integers(0, 12), max_size=40)


def listed(plan: Any) -> list[Any]:
    return [one.tolist() for one in plan]


def best_fit(lengths: list[int], capacity: int, most: int) -> list[list[int]]:
    bins: list[list[int]] = []
    for item in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        rooms = [
            (capacity - sum(lengths[i] for i in members), number)
            for number, members in enumerate(bins)
            if len(members) < most
        ]
        fitting = [one for one in rooms if one[0] >= lengths[item]]
        if fitting:
            bins[min(fitting)[1]].append(item)
        else:
            bins.append([item])
    return [sorted(members) for members in bins]


def next_fit(lengths: list[int], capacity: int, most: int) -> list[list[int]]:
    bins: list[list[int]] = []
    for item, length in enumerate(lengths):
        is_full = not bins or len(bins[-1]) == most
        if is_full or sum(lengths[i] for i in bins[-1]) + length > capacity:
            bins.append([])
        bins[-1].append(item)
    return bins


def budget(lengths: list[int], tokens: int, padded: bool, most: int, multiple: int) -> Any:
    bins, rest = [], sorted(range(len(lengths)), key=lambda i: (lengths[i], i))
    while rest:
        count = 1
        while count < min(len(rest), most):
            taken = [lengths[i] for i in rest[: count + 1]]
            if (max(taken) * len(taken) if padded else sum(taken)) > tokens:
                break
            count += 1
        if count > multiple:
            count -= count % multiple
        bins.append(sorted(rest[:count]))
        rest = rest[count:]
    return bins


def test_example_of_each_rule() -> None:
    def plan(rule: Any) -> list[Any]:
        return listed(rule.plan(EXAMPLE, shuffle=False))

    assert plan(Pack(8)) == [[4], [1, 3], [0, 2], [5]]
    assert plan(Pack(8, "next_fit")) == [[0], [1], [2, 3], [4], [5]]
    rows = [[[0, 0, 3], [1, 0, 5]], [[1, 5, 6], [2, 0, 5], [3, 0, 2]], [[4, 0, 8]], [[5, 0, 1]]]
    assert plan(Pack(8, "split")) == rows
    assert plan(Budget(12)) == [[0, 3, 5], [1, 2], [4]]
    assert plan(Bucket([3, 8], batch_sizes=2)) == [[0, 3], [5], [1, 2], [4]]
    assert Pack(8).plan(EXAMPLE).report().fill == 25 / 32
    assert Budget(12).plan(EXAMPLE).report().waste == pytest.approx(1 - 25 / 29)


@given(LENGTHS, st.integers(12, 30), st.none() | st.integers(1, 5))
def test_packing_follows_its_words(lengths: list[int], capacity: int, most: int | None) -> None:
    limit = most or 100
    found = listed(Pack(capacity, max_samples=most).plan(lengths, shuffle=False))
    assert found == best_fit(lengths, capacity, limit)
    found = listed(Pack(capacity, "next_fit", max_samples=most).plan(lengths, shuffle=False))
    assert found == next_fit(lengths, capacity, limit)


@given(LENGTHS, st.integers(12, 60), st.booleans(), st.integers(1, 9), st.integers(1, 4))
def test_budget_follows_its_words(
    lengths: list[int], tokens: int, padded: bool, most: int, multiple: int
) -> None:
    rule = Budget(tokens, padded=padded, max_samples=most, multiple_of=multiple)
    found = listed(rule.plan(lengths, shuffle=False))
    assert found == budget(lengths, tokens, padded, most, multiple)


@given(LENGTHS, st.integers(1, 9), st.none() | st.integers(1, 4), st.integers(1, 50))
def test_split_has_every_token_once_in_order(
    lengths: list[int], capacity: int, most: int | None, window: int
) -> None:
    plan = Pack(capacity, "split", max_samples=most).plan(lengths, shuffle=False, window=window)
    rows = listed(plan)
    tokens = [(s, t) for row in rows for s, start, stop in row for t in range(start, stop)]
    assert tokens == [(s, t) for s, length in enumerate(lengths) for t in range(length)]
    assert {s for row in rows for s, _, _ in row} == set(range(len(lengths)))
    for row in rows:
        assert sum(stop - start for _, start, stop in row) <= capacity
        assert len(row) <= (most or len(row))
    if most is None and window >= len(lengths):
        assert len(rows) == max(-(-sum(lengths) // capacity), min(1, len(lengths)))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=30), st.integers(9, 20))
def test_all_kinds_of_lengths_fit(lengths: list[tuple[int, int]], capacity: int) -> None:
    for algorithm in ("best_fit", "next_fit"):
        plan = Pack((capacity, 4), algorithm).plan(
            np.array(lengths, np.int32).reshape(-1, 2), seed=3
        )
        found = listed(plan)
        assert sorted(one for members in found for one in members) == list(range(len(lengths)))
        for members in found:
            assert (np.array(lengths)[members].sum(axis=0) <= (capacity, 4)).all()
    columns = tuple(np.array(lengths, np.int64).reshape(-1, 2).T)
    assert listed(Pack((capacity, 4)).plan(columns)) == listed(
        Pack((capacity, 4)).plan(np.array(lengths, np.int64).reshape(-1, 2))
    )


@pytest.mark.parametrize("capacity", [30, 10**9])
def test_large_capacities_pack_alike(capacity: int) -> None:
    """They have another structure of data."""
    lengths = np.random.default_rng(1).integers(0, 13, 500) * (capacity // 30)
    assert listed(Pack(capacity).plan(lengths, shuffle=False)) == best_fit(
        lengths.tolist(), capacity, 1000
    )


def test_bucket_classes() -> None:
    lengths = [1, 9, 4, 4, 2, 8, 5, 4]
    rule = Bucket([2, 4, 9], batch_sizes=[2, 3, 1])
    found = listed(rule.plan(lengths, shuffle=False))
    assert found == [[0, 4], [2, 3, 7], [1], [5], [6]]
    found = listed(Bucket([2, 4, 9], tokens=9).plan(lengths, shuffle=False))
    assert found == [[0, 4], [2, 3], [7], [1], [5], [6]]
    pairs = np.array([[1, 1], [1, 5], [5, 1], [5, 5]])
    rule = Bucket([(2, 2), (2, 9), (9, 2), (9, 9)], batch_sizes=4)
    assert listed(rule.plan(pairs, shuffle=False)) == [[0], [1], [2], [3]]


def test_number_of_classes_has_like_shares_of_tokens() -> None:
    lengths = np.random.default_rng(0).integers(1, 1000, 20_000)
    plan = Bucket(number=16, tokens=8000).plan(lengths)
    assert plan.report().waste < 0.1
    assert sorted(np.concatenate(list(plan)).tolist()) == list(range(20_000))


@pytest.mark.parametrize("shape", [(), (0,)])
def test_empty_data_has_no_bins(shape: tuple[int, ...]) -> None:
    for rule in (Pack(8), Budget(8), Bucket([8], batch_sizes=1), Pack(3, "split")):
        plan = rule.plan(np.zeros(0, np.int32))
        assert (len(plan), list(plan), plan.report().num_bins) == (0, [], 0)
        with pytest.raises(IndexError):
            plan[0]


@pytest.mark.parametrize(
    ("rule", "bins"),
    [
        (lambda: Pack(8, too_long="drop"), [[1, 2]]),
        (lambda: Pack(8, too_long="truncate"), [[0], [1, 2]]),
        (lambda: Budget(8, too_long="drop"), [[1, 2]]),
        (lambda: Budget(8, too_long="alone"), [[1, 2], [0]]),
        (lambda: Bucket([8], batch_sizes=9, too_long="drop"), [[1, 2]]),
        (lambda: Bucket([8], batch_sizes=9, too_long="truncate"), [[0, 1, 2]]),
        (lambda: Pack(8, too_long="split"), [[[0, 0, 8]], [[0, 8, 9], [1, 0, 3], [2, 0, 4]]]),
    ],
)
def test_samples_that_are_too_long(rule: Callable[[], Any], bins: list[Any]) -> None:
    plan = rule().plan([9, 3, 4], shuffle=False)
    assert listed(plan) == bins
    assert plan.report().num_dropped == (rule().too_long == "drop")


@pytest.mark.parametrize(
    "rule", [Pack(8), Pack(8, "next_fit"), Budget(8), Bucket([4, 8], batch_sizes=1)]
)
def test_error_names_the_sample_that_is_too_long(rule: Any) -> None:
    plan = rule.plan([1, 2, 9, 3], shuffle=False, window=2)
    assert plan[0] is not None
    with pytest.raises(ArgumentValueError, match=r"sample 2 has length 9"):
        len(plan)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: UNTYPED.Pack(0), ArgumentValueError, "capacity: must be from 1"),
        (lambda: UNTYPED.Pack(2.5), ArgumentTypeError, "capacity: must be an integer"),
        (lambda: UNTYPED.Pack(8, "first_fit"), ArgumentValueError, "algorithm: must be"),
        (lambda: UNTYPED.Pack(8, too_long="alone"), ArgumentValueError, "too_long must be one of"),
        (lambda: UNTYPED.Pack((8, 2), "split"), ArgumentConflictError, "one number"),
        (lambda: UNTYPED.Budget(8, cost=0), ArgumentValueError, "cost: must be a positive"),
        (
            lambda: UNTYPED.Budget(8, multiple_of=0),
            ArgumentValueError,
            "multiple_of: must be from 1",
        ),
        (lambda: UNTYPED.Bucket([8]), ArgumentConflictError, "batch_sizes or tokens must be given"),
        (lambda: UNTYPED.Bucket([8, 4], batch_sizes=1), ArgumentValueError, "edges: must ascend"),
        (
            lambda: UNTYPED.Bucket([8], batch_sizes=[1, 2]),
            ArgumentValueError,
            "one for each of the 1",
        ),
        (lambda: UNTYPED.Pack(8).plan([1.5]), ArgumentTypeError, "lengths: must be integers"),
        (lambda: UNTYPED.Pack(8).plan([[1, 2]]), ArgumentValueError, "needs 1 for each sample"),
        (lambda: len(UNTYPED.Pack(8).plan([1, -2])), ArgumentValueError, "for sample 1"),
        (lambda: UNTYPED.Pack(8).plan([1], window=0), ArgumentValueError, "window: must be from 1"),
        (lambda: UNTYPED.Pack(8).plan([1], repack="never"), ArgumentValueError, "repack: must be"),
        (lambda: UNTYPED.Pack(8).plan([1]).rank(2, 2), ArgumentValueError, "rank: must be below"),
        (
            lambda: len(UNTYPED.Budget(9, cost=lambda n: n / 2).plan([1])),
            ArgumentValueError,
            "Round up",
        ),
    ],
)
def test_wrong_parameters(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_costs() -> None:
    lengths = [10, 10, 10, 10]
    assert len(Budget(40).plan(lengths)) == 1
    assert len(Budget(40, cost=10).plan(lengths)) == 2  # 10 + 10 * 10 / 10 each
    assert len(Budget(40, cost=lambda n: n * 4).plan(lengths)) == 4
    assert len(Budget(40, pad_to=16).plan(lengths)) == 2
