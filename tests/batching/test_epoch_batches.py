"""Plans of whole epochs: windows, processes, states, and what they cost."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dali_core.batching import Bucket, Budget, Pack
from dali_core.errors import StateMismatchError

RULES = [
    Pack(30),
    Pack(30, "next_fit", max_samples=4),
    Pack(25, "split"),
    Pack(30, too_long="split"),
    Budget(90, multiple_of=2),
    Budget(50, padded=False),
    Bucket([5, 10, 30], batch_sizes=[6, 3, 2], group=4),
    Bucket(number=3, tokens=60, group=2),
]
REPACKS: tuple[Any, ...] = ("each_epoch", "once")


def lengths_of(count: int, seed: int = 0) -> NDArray[np.int32]:
    return np.random.default_rng(seed).integers(0, 31, count).astype(np.int32)


def listed(plan: Any) -> list[Any]:
    return [one.tolist() for one in plan]


@pytest.mark.parametrize("rule", RULES, ids=repr)
@settings(max_examples=15)
@given(
    count=st.integers(0, 120),
    window=st.integers(1, 130),
    seed=st.integers(-1, 2**40),
    epoch=st.integers(0, 2**33),
    shuffle=st.booleans(),
    repack=st.sampled_from(REPACKS),
)
def test_every_sample_is_in_one_bin(
    rule: Any, count: int, window: int, seed: int, epoch: int, shuffle: bool, repack: Any
) -> None:
    plan = rule.plan(
        lengths_of(count), seed=seed, epoch=epoch, shuffle=shuffle, window=window, repack=repack
    )
    bins = list(plan)
    assert len(bins) == len(plan)
    parts = np.concatenate([np.empty((0, 3), np.int64), *map(plan.parts, range(len(plan)))])
    assert sorted(set(parts[:, 0].tolist())) == list(range(count))
    assert (parts[:, 2] - parts[:, 1]).sum() == lengths_of(count).sum()
    report = plan.report()
    assert (report.num_samples, report.num_dropped) == (count, 0)
    assert report.furthest < window


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("repack", REPACKS)
def test_bins_are_found_in_any_order(rule: Any, repack: Any) -> None:
    lengths = lengths_of(300)
    in_order = listed(rule.plan(lengths, seed=5, epoch=2, window=32, repack=repack))
    plan = rule.plan(lengths, seed=5, epoch=2, window=32, repack=repack)
    for number in np.random.default_rng(0).permutation(len(in_order)).tolist():
        assert plan[number].tolist() == in_order[number]
    assert [one.tolist() for one in plan[1:4]] == in_order[1:4]
    assert plan[-1].tolist() == in_order[-1]


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_processes_share_the_bins_of_one_plan(rule: Any) -> None:
    plan = rule.plan(lengths_of(200), seed=1, window=64)
    bins = listed(plan)
    for num_ranks in (1, 2, 3, 8, 64, 1024):
        shares = [plan.rank(rank, num_ranks) for rank in range(num_ranks)]
        steps = len(bins) // num_ranks
        assert {len(share) for share in shares} == {steps}
        together = [
            shares[k % num_ranks][k // num_ranks].tolist() for k in range(steps * num_ranks)
        ]
        assert together == bins[: steps * num_ranks]
        assert shares[0].num_lost == len(bins) - steps * num_ranks


def test_last_step_of_processes() -> None:
    plan = Pack(8).plan([8, 8, 8, 8, 8], shuffle=False)
    padded = [plan.rank(rank, 3, "pad") for rank in range(3)]
    assert [listed(share) for share in padded] == [[[0], [3]], [[1], [4]], [[2], [0]]]
    assert [[share.weight(t) for t in range(2)] for share in padded] == [[1, 1], [1, 1], [1, 0]]
    assert listed(plan.rank(2, 3, "empty")) == [[2], []]
    assert listed(plan.rank(2, 3)) == [[2]]


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("repack", REPACKS)
def test_every_bin_is_resumed_from_its_state(rule: Any, repack: Any) -> None:
    def made() -> Any:
        return rule.plan(lengths_of(150), seed=7, epoch=3, window=16, repack=repack)

    plan = made()
    bins = listed(plan)
    for number in range(len(bins)):
        fresh = made()
        state = plan.state(number)
        assert len(repr(state)) < 1000
        place = fresh.restore(state)
        assert fresh[place].tolist() == bins[number]
        assert listed(fresh)[place:] == bins[place:]
    assert made().restore(plan.state(len(bins))) == len(bins)


@pytest.mark.parametrize(
    "other",
    [
        lambda: Pack(30).plan(lengths_of(99)),
        lambda: Pack(30).plan(lengths_of(100, seed=1)),
        lambda: Pack(31).plan(lengths_of(100)),
        lambda: Pack(30).plan(lengths_of(100), epoch=1),
        lambda: Pack(30).plan(lengths_of(100), seed=1),
        lambda: Pack(30).plan(lengths_of(100), window=8),
    ],
)
def test_state_of_another_plan_is_refused(other: Any) -> None:
    state = Pack(30).plan(lengths_of(100)).state(2)
    with pytest.raises(StateMismatchError, match="must be of this plan"):
        other().restore(state)


@pytest.mark.parametrize(
    "damage", [{"bin": 0, "window_start": 9}, {"window_number": 9}, {"bin": -1}, {"bin": "x"}]
)
def test_damaged_state_is_refused(damage: dict[str, Any]) -> None:
    plan = Pack(30).plan(lengths_of(100))
    with pytest.raises((StateMismatchError, ValueError, TypeError)):
        plan.restore(plan.state(2) | damage)


def test_epochs_differ_and_once_repeats_neighbours() -> None:
    lengths = lengths_of(400)
    first, second = (listed(Pack(30).plan(lengths, epoch=epoch, window=64)) for epoch in (0, 1))
    assert first != second
    first, second = (
        listed(Pack(30).plan(lengths, epoch=epoch, window=64, repack="once")) for epoch in (0, 1)
    )
    assert first != second
    assert sorted(first) == sorted(second)


def test_groups_of_a_class_stay_together() -> None:
    """Processes whose number divides the group have one class at almost all steps."""
    lengths = np.random.default_rng(0).integers(1, 1001, 40_000)
    rule = Bucket([125 * i for i in range(1, 9)], batch_sizes=10, group=8)
    plan = rule.plan(lengths, seed=2, window=8192)
    for num_ranks in (2, 4, 8):
        assert plan.report(num_ranks).imbalance < 1.08
    assert abs(plan.report().correlation) < 0.05
    assert plan.report(7).imbalance > plan.report(8).imbalance


def test_fill_of_packing() -> None:
    """Best fit in windows of 16,384 fills rows of typical lengths to 99.95 %."""
    random = np.random.default_rng(0)
    lengths = np.clip(random.lognormal(np.log(300), 1.1, 100_000), 1, 8192).astype(np.int32)
    assert Pack(8192).plan(lengths).report().fill > 0.9985
    assert Budget(16384).plan(lengths).report().waste < 0.006


def test_memory_mapped_lengths_are_read_on_demand(tmp_path: Path) -> None:
    count = 20_000_000
    lengths = np.lib.format.open_memmap(tmp_path / "lengths.npy", "w+", np.uint16, shape=(count,))
    lengths[::1000] = 7
    tracemalloc.start()
    try:
        plan = Pack(100).plan(np.load(tmp_path / "lengths.npy", mmap_mode="r"), seed=1)
        assert len(plan[0]) > 0
        assert plan.state(0)["window_number"] == 0
        assert tracemalloc.get_traced_memory()[1] < 30 << 20
    finally:
        tracemalloc.stop()
