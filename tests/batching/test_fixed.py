"""Batch plans and schedules of one batch size, against lists of all samples."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from dali_core.batching.epoch_plan import EpochPlan, Run
from dali_core.batching.fixed import Fixed, FixedPlan
from dali_core.batching.schedule import BatchSchedule, LastBatchPolicy

FILL, DROP, PARTIAL = LastBatchPolicy
EPOCHS = 4
SIZES = (1, 2, 3, 4, 7)
Sample = tuple[int, int]


def epoch_plans(most: int = 9, shards: tuple[int, ...] = (1, 2, 3, 4)) -> Iterator[EpochPlan]:
    for num_samples, num_shards in itertools.product(range(1, most), shards):
        for shard in range(min(num_shards, num_samples)):
            for stick, pad, interleaved in itertools.product((False, True), repeat=3):
                if num_shards <= num_samples and not (stick and interleaved):
                    yield EpochPlan(num_samples, num_shards, shard, stick, pad, False, interleaved)


def stream(data: EpochPlan, size: int) -> list[tuple[Sample, bool]]:
    """Return (epoch, position in its order) of the samples of a shard, and whether it is padding.

    They are dealt out one by one.
    """
    counts = [0] * data.num_shards
    found = []
    dealt = 0
    for epoch in range(EPOCHS):
        if data.pad_last_batch:
            dealt, counts = 0, [0] * data.num_shards
        own: list[tuple[Sample, bool]] = []
        for position in range(data.num_samples):
            if data.interleaved:
                owner, dealt = dealt % data.num_shards, dealt + 1
                is_own = owner == data.shard_id
            else:
                owner = max(
                    shard
                    for shard in range(data.num_shards)
                    if shard * data.num_samples // data.num_shards <= position
                )
                moved = 0 if data.stick_to_shard else epoch
                is_own = owner == (data.shard_id + moved) % data.num_shards
            counts[owner] += 1
            if is_own:
                own.append(((epoch, position), False))
        if data.pad_last_batch:
            last = (epoch, data.num_samples - 1) if data.interleaved else own[-1][0]
            while len(own) < max(counts) or len(own) % size:
                own.append((last, True))
        found += own
    return found


def expand(runs: list[Run]) -> list[tuple[Sample, bool]]:
    return [
        ((run.epoch, run.first + i * run.step), run.is_padding)
        for run in runs
        for i in range(run.length)
    ]


@pytest.mark.parametrize("size", SIZES)
def test_batches_partition_the_stream(size: int) -> None:
    for data in epoch_plans():
        plan, samples = Fixed(size).plan(data), stream(data, size)
        epochs = [sample[0] for sample, _ in samples]
        for batch in range(len(samples) // size):
            begin = plan.position(batch)
            assert begin == batch * size
            assert plan.size(batch) == size
            assert expand(plan.runs(batch)) == samples[begin : begin + size], (data, batch)
            assert plan.epoch(batch) == epochs[begin]
            assert all(plan.find(begin + i) == (batch, i) for i in range(size))


@pytest.mark.parametrize("size", SIZES)
def test_positions_and_epochs_are_inverse(size: int) -> None:
    for data in epoch_plans():
        plan, samples = Fixed(size).plan(data), stream(data, size)
        starts: dict[int, int] = {}
        for position, ((epoch, _), _) in enumerate(samples):
            starts.setdefault(epoch, position)
            assert plan.locate(position) == (epoch, position - starts[epoch])
        assert all(plan.epoch_start(epoch) == start for epoch, start in starts.items())


@pytest.mark.parametrize("size", SIZES)
def test_a_plan_may_start_at_any_batch_and_position(size: int) -> None:
    for data in epoch_plans(most=6, shards=(1, 3)):
        samples = stream(data, size)
        for first, begin in itertools.product((0, 5), range(len(samples) - 2 * size)):
            plan = Fixed(size).plan(data).starting(first, begin)
            for batch in (first, first + 1):
                position = begin + (batch - first) * size
                assert plan.position(batch) == position
                assert plan.find(position) == (batch, 0)
                assert expand(plan.runs(batch)) == samples[position : position + size]


@pytest.mark.parametrize("size", SIZES)
def test_counts_of_batches(size: int) -> None:
    plan = Fixed(size).plan()
    for count in range(30):
        begun = [batch for batch in range(30) if plan.position(batch) < count]
        filled = [batch for batch in range(30) if plan.position(batch + 1) <= count]
        assert plan.num_begun(count) == len(begun)
        assert plan.num_filled(count) == len(filled)


def samples_read(plan: FixedPlan, position: int) -> list[Sample]:
    """Return what all shards together have read at a position, without padding, sorted."""
    data = plan.epochs
    return sorted(
        sample
        for shard in range(data.num_shards)
        for sample, is_padding in stream(
            EpochPlan(
                data.num_samples, data.num_shards, shard, False, data.pad_last_batch, False, True
            ),
            plan.batching.size,
        )[:position]
        if not is_padding
    )


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("num_samples", range(4, 10))
def test_resuming_in_other_shards_keeps_the_samples_read(num_samples: int, pad: bool) -> None:
    layouts = list(itertools.product((1, 2, 3, 4), (1, 2, 3)))
    plans = [
        Fixed(size).plan(EpochPlan(num_samples, shards, pad_last_batch=pad, interleaved=True))
        for shards, size in layouts
    ]
    num_found = 0
    for before, now in itertools.product(plans, plans):
        for batch in range(EPOCHS):
            position = before.position(batch)
            read = position * before.epochs.num_shards
            if read > num_samples:
                continue
            found = now.resumed(before, position)
            if found is None:  # no number of samples, or of batches, in each shard is as many
                count, rest = divmod(read, now.epochs.num_shards)
                assert rest or (pad and now.find(count)[1])
            else:
                num_found += 1
                assert samples_read(now, found) == samples_read(before, position)
    assert num_found > 50


def simulate(data: EpochPlan, size: int, policy: LastBatchPolicy) -> list[tuple[int, int]]:
    """Return how many batches each epoch takes and gives.

    All shards continue until each has the samples of its epoch.

    Batches are taken one by one, and samples are counted.
    """
    ahead = [0] * data.num_shards
    result = []
    for epoch in range(EPOCHS):
        sizes = [
            EpochPlan(data.num_samples, data.num_shards, shard, data.stick_to_shard).shard_size(
                epoch
            )
            for shard in range(data.num_shards)
        ]
        taken = given = 0
        if policy is FILL and not data.pad_last_batch:
            while taken == 0 or any(a < b for a, b in zip(ahead, sizes, strict=True)):
                ahead = [count + size for count in ahead]
                taken += 1
            ahead = [a - b for a, b in zip(ahead, sizes, strict=True)]
            given = taken
        else:
            whole, rest = divmod(data.num_samples, data.num_shards)
            left = whole if policy is DROP else whole + (rest > 0)
            while left > 0:
                taken += 1
                given += policy is not DROP or left >= size
                left -= size
        result.append((taken, given))
    return result


@pytest.mark.parametrize("policy", LastBatchPolicy)
@pytest.mark.parametrize("size", SIZES)
def test_schedules_against_counting(size: int, policy: LastBatchPolicy) -> None:
    for data in epoch_plans():
        if data.interleaved:
            continue
        schedule = BatchSchedule(Fixed(size).plan(data), policy)
        expected = simulate(data, size, policy)
        assert [
            (schedule.num_taken(epoch), schedule.num_given(epoch)) for epoch in range(EPOCHS)
        ] == expected, data
        begun = list(itertools.accumulate((taken for taken, _ in expected), initial=0))
        assert [schedule.first_batch(epoch) for epoch in range(EPOCHS + 1)] == begun


@pytest.mark.parametrize("policy", LastBatchPolicy)
@pytest.mark.parametrize("size", SIZES)
def test_valid_samples_of_batches_are_those_of_the_epoch(
    size: int, policy: LastBatchPolicy
) -> None:
    for data in epoch_plans():
        plan = Fixed(size).plan(data)
        schedule = BatchSchedule(plan, policy)
        for epoch in range(EPOCHS):
            given = range(schedule.num_given(epoch))
            valid = [schedule.num_valid(epoch, index) for index in given]
            assert [schedule.num_samples(epoch, index) for index in given] == [size] * len(given)
            if policy is not PARTIAL:
                assert valid == [size] * len(given)
                continue
            # Batches are cut to the samples of the shard, from the first one on.
            assert sum(valid) == data.shard_size(epoch)
            assert sorted(valid, reverse=True) == valid
            assert all(count == size for count in valid[:-2])


@pytest.mark.parametrize("policy", LastBatchPolicy)
def test_schedules_resume_with_other_batches(policy: LastBatchPolicy) -> None:
    num_found = 0
    for num_samples, pad in itertools.product(range(4, 14), (False, True)):
        layouts = list(itertools.product((1, 2, 4), (1, 2, 3)))
        schedules = [
            BatchSchedule(
                Fixed(size).plan(
                    EpochPlan(num_samples, shards, pad_last_batch=pad, interleaved=True)
                ),
                policy,
            )
            for shards, size in layouts
        ]
        straddles = policy is FILL and not pad
        for before, now in itertools.product(schedules, schedules):
            one, other = (
                schedule.plan.batching.largest * schedule.plan.epochs.num_shards
                for schedule in (before, now)
            )
            for epoch in range(EPOCHS):
                for taken in range(before.num_taken(epoch) + 1):
                    found = now.resumed(before, epoch, taken)
                    if before.plan.is_like(now.plan):
                        assert found == taken
                    elif straddles:
                        read = (before.first_batch(epoch) + taken) * one
                        batches = read / other - now.first_batch(epoch)
                        possible = batches == int(batches) and 0 <= batches <= now.num_taken(epoch)
                        assert found == (int(batches) if possible else None)
                    elif taken == before.num_taken(epoch):
                        assert found == now.num_taken(epoch)
                    else:
                        assert found == (taken * one // other if taken * one % other == 0 else None)
                    num_found += found is not None
    assert num_found > 1000


def test_joined_batches_and_state() -> None:
    assert Fixed(3).joined(4) == Fixed(12)
    assert Fixed(3).state() == {"batch_size": 3}
    assert Fixed(3).largest == 3
    assert Fixed(3) != Fixed(4)
