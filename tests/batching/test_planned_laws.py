"""Laws of planned batches, for random data, rules, windows and numbers of processes."""

from __future__ import annotations

import random
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core._runtime.random import permutation
from dali_core.batching import Bucket, Budget, Pack, Planned
from dali_core.batching.epoch_batches import EpochOrder
from dali_core.batching.epoch_plan import EpochPlan
from dali_core.batching.planned import STEPS, PlannedPlan
from dali_core.errors import ArgumentConflictError, ArgumentValueError

RANKS = [1, 2, 3, 8, 64, 1024]
Samples = list[list[int]]


def bound(batching: Planned, lengths: Any, shuffle: bool = True, seed: int = 3) -> Planned:
    count = len(lengths)

    def samples(epoch: int, start: int, number: int) -> Any:
        return permutation(count, seed, epoch, start, number)

    return batching.of_data(lengths, EpochOrder(count, seed, samples), shuffle=shuffle)


def plan_of(batching: Planned, count: int, ranks: int, rank: int = 0, pad: bool = False) -> Any:
    return batching.plan(EpochPlan(count, ranks, rank, pad_last_batch=pad))


def batch(plan: PlannedPlan, number: int) -> list[tuple[int, int]]:
    return [(run.epoch, run.first) for run in plan.runs(number)]


class Case:
    """A random configuration, by its number."""

    def __init__(self, number: int) -> None:
        draw = random.Random(number)
        self.count = draw.choice([1, 2, 7, 30, 63, 64, 65, 150])
        self.lengths = np.array([draw.randint(0, 12) for _ in range(self.count)])
        window = draw.choice([1, 5, 64, self.count, self.count + 1, max(self.count - 1, 1)])
        rule = draw.choice(
            [
                Pack(12),
                Pack(15, "next_fit"),
                Pack(9, too_long="drop"),
                Budget(20),
                Budget(30, padded=False, max_samples=4),
                Budget(16, multiple_of=3, too_long="drop"),
                Budget(8, too_long="alone"),
                Bucket([4, 8, 12], batch_sizes=[4, 3, 2], group=4),
            ]
        )
        repack: Any = draw.choice(["each_epoch", "each_epoch", "once"])
        self.batching = rule.windows(window, repack=repack, rows=draw.choice([1, 1, 2, 3]))
        self.shuffle = draw.random() < 0.8
        self.pad = draw.random() < 0.6
        self.ranks = draw.choice([ranks for ranks in (1, 2, 4, 8) if ranks <= self.count])

    def bound(self) -> Planned:
        return bound(self.batching, self.lengths, self.shuffle)

    def plan(self, ranks: int, rank: int = 0, batching: Planned | None = None) -> PlannedPlan:
        found: PlannedPlan = plan_of(batching or self.bound(), self.count, ranks, rank, self.pad)
        return found

    def has_steps(self, ranks: int) -> bool:
        return ranks <= self.count and all(self.plan(ranks).num_steps(e) for e in (0, 1, 2))


@pytest.mark.parametrize("numbers", [range(start, start + 50) for start in range(0, 200, 50)])
def test_resume_at_every_step_equals_continuing(numbers: range) -> None:
    resumed = 0
    for number in numbers:
        case = Case(number)
        if not case.has_steps(case.ranks):
            continue
        running = case.plan(case.ranks, case.ranks - 1)
        steps = running.num_steps(0) + running.num_steps(1)
        continued = [batch(running, step) for step in range(steps + 2)]
        places = [running.place(step) for step in range(steps + 2)]
        assert places[: running.num_steps(0)] == [(0, i) for i in range(running.num_steps(0))]
        for step in range(steps):
            position = running.position(step)
            fresh = case.bound()
            assert fresh.remember(running.known_window(position), position)
            plan = case.plan(case.ranks, case.ranks - 1, fresh).starting(step, position)
            assert plan.is_possible(position)
            assert [batch(plan, step + i) for i in range(2)] == continued[step : step + 2], number
            resumed += 1
    assert resumed > 500


@pytest.mark.parametrize("factor", [2, 0.5])
def test_resume_with_half_and_twice_the_processes(factor: float) -> None:
    resumed = 0
    for number in range(200):
        case = Case(number)
        now = int(case.ranks * factor)
        if now < 1 or not (case.has_steps(case.ranks) and case.has_steps(now)):
            continue
        before = case.plan(case.ranks)
        for step in range(before.num_steps(0)):
            position = case.plan(now).resumed(before, before.position(step))
            if position is None:
                assert step * case.ranks % now
                continue
            own, numbers = case.bound(), range(position - position % STEPS, position)
            plans = [case.plan(now, rank, own) for rank in range(now)]
            order = [b for n in numbers for plan in plans for b in plan.step_bins(0, n)]
            assert order == list(range(step * case.ranks * case.batching.rows))
            following = plans[0].step_bins(0, position) if plans[0].has_step(0, position) else None
            assert following in (None, list(range(len(order), len(order) + len(following or []))))
            resumed += 1
    assert resumed > 500


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("rule", [Pack(100), Budget(300), Bucket([50, 100], tokens=200, group=8)])
def test_global_batches_are_the_same_for_any_number_of_processes(rule: Any, rows: int) -> None:
    count = 8192
    lengths = np.random.default_rng(0).integers(1, 100, count)
    batching = bound(rule.windows(1000, rows=rows), lengths)
    order = [batching.bins(1).positions(number).tolist() for number in range(len(batching.bins(1)))]
    assert sorted(position for one in order for position in one) == list(range(count))
    for ranks in RANKS:
        plans = [plan_of(batching, count, ranks, rank, pad=True) for rank in range(ranks)]
        steps = range(plans[0].num_steps(1))
        assert {plan.num_steps(1) for plan in plans} == {len(steps)}
        given: Samples = []
        for step in steps:
            for plan in plans:
                row_lengths = plan.row_lengths(STEPS + step)
                assert sum(row_lengths) == plan.size(STEPS + step)
                assert 1 <= len(row_lengths) <= rows
                if plan.weight(1, step):
                    given.append([run.first for run in plan.runs(STEPS + step)])
        together = [sum(order[i : i + rows], []) for i in range(0, len(order), rows)]  # noqa: RUF017
        assert given == together
        tokens = [plan.step_tokens(1, len(steps) - 1) for plan in plans]
        assert plans[-1].step(1, len(steps) - 1).global_tokens == sum(tokens)
        dropping = plan_of(batching, count, ranks, ranks - 1)
        assert dropping.num_steps(1) == len(order) // (ranks * rows)


@pytest.mark.parametrize(
    ("rule", "lengths", "sizes"),
    [
        (Pack(8), [8, 8, 8], [1, 1, 1]),
        (Pack(1), [1, 1], [1, 1]),
        (Pack(8), [1] * 16, [8, 8]),
        (Pack(8), [5], [1]),
        (Pack(8), [3, 5, 0], [3]),
        (Pack(8, max_samples=2), [0, 0, 8], [2, 1]),
        (Budget(8), [4, 4], [2]),
        (Budget(8, max_samples=1), [0, 0], [1, 1]),
        (Budget(8, too_long="drop"), [9, 8], [1]),
        (Pack(8, too_long="truncate"), [9, 8], [1, 1]),
        (Budget(8, too_long="alone"), [9, 8], [1, 1]),
    ],
    ids=str,
)
def test_special_data(rule: Any, lengths: list[int], sizes: list[int]) -> None:
    plan = plan_of(bound(rule.windows(), np.array(lengths)), len(lengths), 1)
    found = [plan.size(step) for step in range(len(sizes))]
    assert sorted(found) == sorted(sizes)
    assert plan.num_steps(0) == len(sizes)
    assert plan.place(len(sizes)) == (1, 0)


def test_a_billion_mapped_lengths_are_not_read(tmp_path: Path) -> None:
    count, window = 10**9, 1024
    lengths = np.memmap(tmp_path / "lengths", np.int32, "w+", shape=count)  # a file with a hole
    per_window = window // 4
    start = time.process_time()
    tracemalloc.start()
    batching = bound(Pack(8, max_samples=4).windows(window), lengths)
    plan = plan_of(batching, count, 8, 3)
    last = count // window  # a window that is not full
    number = (last - 1) * per_window // 8
    position = plan.epoch_start(5) + number
    assert batching.remember([5, last - 1, (last - 1) * per_window], position)
    assert len(batch(plan, 0)) == 4
    assert [epoch for epoch, _ in batch(plan, position)] == [5] * 4
    state = plan.known_window(position)
    assert state == [5, last - 1, (last - 1) * per_window]
    assert time.process_time() - start < 2.0  # that of planning all of them is minutes
    assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    tracemalloc.stop()


def test_splitting_and_small_data_are_refused() -> None:
    with pytest.raises(ArgumentConflictError, match="must not split"):
        Pack(4, too_long="split").windows()
    with pytest.raises(ArgumentValueError, match="every sample must fit"):
        bound(Pack(4).windows(), np.array([3, 5])).bins(0).has(0)
    plan = plan_of(bound(Pack(4).windows(), np.array([1, 1])), 2, 2)
    with pytest.raises(ArgumentValueError, match="a batch for each of 2 processes"):
        plan.place(0)
