"""Order, sharding and padding of epochs, against a simple reference implementation."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from dali_core.batching.epoch_plan import EpochPlan, Run
from dali_core.batching.fixed import Fixed
from dali_core.errors import ArgumentValueError

EPOCHS = 4


def small_plans() -> Iterator[EpochPlan]:
    for num_samples, num_shards in itertools.product(range(1, 12), range(1, 6)):
        for shard_id in range(num_shards):
            for stick, pad, interleaved in itertools.product((False, True), repeat=3):
                if num_shards <= num_samples and not (stick and interleaved):
                    yield EpochPlan(
                        num_samples, num_shards, shard_id, stick, pad, False, interleaved
                    )


def epochs_of(plan: EpochPlan, batch_size: int) -> list[list[tuple[int, int]]]:
    """Return (epoch, position) of every sample of the stream, epoch by epoch."""
    everything = [
        (epoch, position) for epoch in range(EPOCHS) for position in range(plan.num_samples)
    ]
    epochs = []
    for epoch in range(EPOCHS):
        whole = everything[epoch * plan.num_samples : (epoch + 1) * plan.num_samples]
        if plan.interleaved:
            mine = [
                sample
                for number, sample in enumerate(whole if plan.pad_last_batch else everything)
                if number % plan.num_shards == plan.shard_id and sample[0] == epoch
            ]
        else:
            shard = plan.shard_id if plan.stick_to_shard else plan.shard_id + epoch
            shard %= plan.num_shards
            bounds = [part * plan.num_samples // plan.num_shards for part in (shard, shard + 1)]
            mine = whole[slice(*bounds)]
        if plan.pad_last_batch:
            filler = whole[-1] if plan.interleaved else mine[-1]
            while len(mine) < -(-plan.num_samples // plan.num_shards) or len(mine) % batch_size:
                mine.append(filler)
        epochs.append(mine)
    return epochs


def expand(runs: list[Run]) -> list[tuple[int, int]]:
    return [(run.epoch, run.first + i * run.step) for run in runs for i in range(run.length)]


@pytest.mark.parametrize("batch_size", [1, 2, 3, 5, 13])
def test_every_piece_of_every_stream(batch_size: int) -> None:
    for plan in small_plans():
        epochs = epochs_of(plan, batch_size)
        stream = list(itertools.chain.from_iterable(epochs))
        batches = Fixed(batch_size).plan(plan)
        assert expand(batches.samples(0, len(stream))) == stream, plan
        for start in range(len(stream)):
            for count in {1, batch_size, 2 * batch_size + 1}:
                if start + count <= len(stream):
                    runs = batches.samples(start, count)
                    assert expand(runs) == stream[start : start + count], (plan, start)
                    assert all(run.length > 0 for run in runs)


@pytest.mark.parametrize("batch_size", [1, 3, 4])
def test_epochs_begin_where_the_one_before_ends(batch_size: int) -> None:
    for plan in small_plans():
        position, batches = 0, Fixed(batch_size).plan(plan)
        for epoch, samples in enumerate(epochs_of(plan, batch_size)):
            assert batches.epoch_start(epoch) == position
            for offset in range(len(samples)):
                assert batches.locate(position + offset) == (epoch, offset), plan
            real = [sample for _, sample in dict.fromkeys(samples)]
            if not plan.interleaved or not plan.pad_last_batch:
                assert list(plan.shard_range(epoch)) == real
            assert plan.shard_size(epoch) == len(plan.shard_range(epoch))
            position += len(samples)


def test_padding_is_marked() -> None:
    plan = EpochPlan(5, 2, 0, pad_last_batch=True)
    runs = Fixed(4).plan(plan).samples(0, 8)
    assert runs == [Run(0, 0, 2, 1), Run(0, 1, 2, 0), Run(1, 2, 3, 1), Run(1, 4, 1, 0)]
    assert [run.is_padding for run in runs] == [False, True, False, True]


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("pad", [False, True])
def test_the_shards_of_an_epoch_partition_it(pad: bool, interleaved: bool) -> None:
    for num_samples, num_shards in itertools.product(range(1, 20), range(1, 7)):
        if num_shards > num_samples:
            continue
        for epoch in range(EPOCHS):
            parts = [
                EpochPlan(num_samples, num_shards, shard, False, pad, False, interleaved)
                for shard in range(num_shards)
            ]
            seen = sorted(i for plan in parts for i in plan.shard_range(epoch))
            assert seen == list(range(num_samples))
            sizes = {plan.shard_size(epoch) for plan in parts}
            assert sizes <= {parts[0].smallest_shard, parts[0].largest_shard}


@pytest.mark.parametrize("pad", [False, True])
def test_interleaved_global_batches_do_not_depend_on_the_number_of_shards(pad: bool) -> None:
    global_batch_size, num_samples = 12, 29
    contents = []
    for num_shards in (1, 2, 3, 4, 6, 12):
        batch_size = global_batch_size // num_shards
        plans = [
            Fixed(batch_size).plan(
                EpochPlan(num_samples, num_shards, shard, pad_last_batch=pad, interleaved=True)
            )
            for shard in range(num_shards)
        ]
        contents.append(
            [
                sorted(sample for plan in plans for sample in expand(plan.runs(batch)))
                for batch in range(20)
            ]
        )
    assert all(content == contents[0] for content in contents)


def test_any_position_is_found_at_once() -> None:
    for options in ({}, {"pad_last_batch": True}, {"interleaved": True}, {"stick_to_shard": True}):
        plan = Fixed(64).plan(EpochPlan(10**9 + 7, 1000, 999, **options))
        epoch, offset = plan.locate(10**15 + 1)
        start = plan.epoch_start(epoch)
        assert start + offset == 10**15 + 1
        assert start <= 10**15 + 1 < plan.epoch_start(epoch + 1)
        (run, *_) = plan.samples(10**15 + 1, 64)
        assert run.epoch == epoch


def test_meta_equals_that_of_the_reference() -> None:
    assert EpochPlan(7, 2, 1).meta() == {
        "epoch_size": 7,
        "epoch_size_padded": 7,
        "number_of_shards": 2,
        "shard_id": 1,
        "pad_last_batch": 0,
        "stick_to_shard": 0,
    }
    assert EpochPlan(7, 2, 1, pad_last_batch=True).meta()["epoch_size_padded"] == 8


def test_meta_describes_the_plan_completely() -> None:
    for plan in small_plans():
        assert EpochPlan.from_meta(plan.meta()) == plan


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((5, 0), r"num_shards: must be at least 1 \(got 0\)"),
        ((5, 2, 2), r"shard_id: must be from 0 to num_shards - 1 = 1 \(got 2\)"),
        ((5, 2, -1), r"shard_id: .*\(got -1\)"),
        ((2, 3), r"num_shards: .*\(got 3 shards of 2 samples\)"),
        ((0,), r"num_shards: .*\(got 1 shards of 0 samples\)"),
        ((5, 1, 0, True, False, False, True), "stick_to_shard: must be False"),
    ],
)
def test_invalid_plans_raise(arguments: tuple[int, ...], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        EpochPlan(*arguments)


def test_describe_prints_the_epochs() -> None:
    text = Fixed(3).plan(EpochPlan(7, 2, 0, pad_last_batch=True)).describe()
    assert text.splitlines() == [
        "7 samples in 2 shards of 3 to 4, batches of 3",
        "epoch 0: shard 0, positions 0 to 2 (3 samples), batches 0 to 1, 3 padding samples",
        "epoch 1: shard 1, positions 3 to 6 (4 samples), batches 2 to 3, 2 padding samples",
    ]
    straddling = Fixed(2).plan(EpochPlan(7)).describe(num_epochs=2).splitlines()
    assert "batches 0 to 3, 0 padding" in straddling[1]
    assert "batches 3 to 6, 0 padding" in straddling[2]
    interleaved = Fixed(2).plan(EpochPlan(9, 4, 1, interleaved=True)).describe(1)
    assert "interleaved shards of 2 to 3" in interleaved
    assert "positions 1 to 5 step 4 (2 samples)" in interleaved
