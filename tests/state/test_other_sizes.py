"""Resuming with another batch size, and interleaved shards with another number of shards."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

from dali_core import Pipeline
from dali_core.errors import StateMismatchError
from dali_core.plugin.base_iterator import BaseIterator, LastBatchPolicy
from tests.state.listing import ListAdapter
from tests.state.making import (
    COUNT,
    batches,
    drawing,
    reading,
    sample_number,
    taking,
    write_files,
)

# Partial batches without padding are allowed, too.
pytestmark = pytest.mark.filterwarnings(
    "ignore::dali_core.plugin.base_iterator.IncompleteEpochWarning"
)

OPTIONS = {"num_threads": 1, "device_id": None, "seed": 3}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return write_files(tmp_path_factory.mktemp("files"))


def batch_of_three(number: int) -> list[Any]:
    return [number] * 3


def samples(pipeline: Pipeline, count: int) -> list[Any]:
    """Return the next samples, each with all its outputs."""

    def each() -> Iterator[Any]:
        while True:
            outputs = pipeline.run()
            for i in range(len(outputs[0])):
                yield [output.at(i).tolist() for output in outputs]

    return list(itertools.islice(each(), count))


@pytest.mark.parametrize("now", [1, 2, 4, 7])
@pytest.mark.parametrize(
    "kind", ["reader", "shard", "interleaved", "random numbers", "samples by number", "samples"]
)
def test_another_batch_size_gives_the_same_samples(
    kind: str, now: int, files: dict[str, Any]
) -> None:
    def make(batch_size: int) -> Pipeline:
        options = {"batch_size": batch_size, **OPTIONS}
        if kind == "random numbers":
            return drawing(options)
        if kind == "samples by number":
            return taking(options, sample_number, batch=False)
        if kind == "samples":
            return taking(options, [[i] for i in range(COUNT)], batch=False, cycle="quiet")
        shards = {} if kind == "reader" else {"num_shards": 2, "shard_id": 1}
        interleaved = {"interleaved_shards": kind == "interleaved"}
        return reading(files, options, random_shuffle=True, **shards, **interleaved)

    expected = samples(make(1), 40)
    before = make(3)
    for taken in range(0, 30, 3):
        pipeline = make(now)
        pipeline.load_state_dict(json.loads(json.dumps(before.state_dict())))
        assert samples(pipeline, 40 - taken) == expected[taken:]
        # The state of a pipeline that resumed with another batch size is valid as well.
        middle = make(now)
        middle.load_state_dict(before.state_dict())
        middle.run()
        last = make(5)
        last.load_state_dict(middle.state_dict())
        assert samples(last, 40 - taken - now) == expected[taken + now :]
        before.run()


@pytest.mark.parametrize("source", [batches(4), list(batches(4)()), batch_of_three])
def test_sources_of_batches_keep_their_size(source: Any) -> None:
    pipeline = taking({"batch_size": 3, **OPTIONS}, source)
    pipeline.run()
    with pytest.raises(StateMismatchError, match=r"batch size.*4, as here.*external_source.*got 3"):
        taking({"batch_size": 4, **OPTIONS}, source).load_state_dict(pipeline.state_dict())


def test_padded_epochs_resume_at_whole_batches(files: dict[str, Any]) -> None:
    def make(batch_size: int) -> Pipeline:
        options = {"batch_size": batch_size, **OPTIONS}
        return reading(files, options, random_shuffle=True, pad_last_batch=True)

    before = make(4)
    before.run()
    state = before.state_dict()
    given = samples(before, COUNT - 4)
    for batch_size in (1, 2, 4):
        pipeline = make(batch_size)
        pipeline.load_state_dict(state)
        assert samples(pipeline, COUNT - 4) == given
    with pytest.raises(StateMismatchError, match=r"batch_size=3.*batch_size of 1 or 2 or 4,"):
        make(3).load_state_dict(state)
    # At the end of an epoch, all sizes work.
    epoch = make(4)
    samples(epoch, 2 * 4 + 1)
    pipeline = make(5)
    pipeline.load_state_dict(epoch.state_dict())
    assert samples(pipeline, COUNT) == samples(epoch, COUNT)


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize(("before", "now"), [(1, 2), (2, 1), (2, 4), (4, 2), (4, 1), (1, 4)])
def test_global_batches_resume_with_another_number_of_shards(
    before: int, now: int, pad: bool, files: dict[str, Any]
) -> None:
    together = 4

    def make(num_shards: int) -> list[Pipeline]:
        options = {"batch_size": together // num_shards, **OPTIONS}
        return [
            reading(
                files,
                options,
                random_shuffle=True,
                interleaved_shards=True,
                pad_last_batch=pad,
                num_shards=num_shards,
                shard_id=shard,
            )
            for shard in range(num_shards)
        ]

    def global_batch(pipelines: list[Pipeline]) -> list[Any]:
        # Sample i of all shards together is in shard i modulo their number.
        parts = [samples(pipeline, pipeline.batch_size) for pipeline in pipelines]
        return [sample for samples_at in zip(*parts, strict=True) for sample in samples_at]

    whole = make(1)
    expected = [global_batch(whole) for _ in range(12)]
    old = make(before)
    for step in range(7):
        state = json.dumps(old[-1].state_dict())  # the state of one shard is valid for all
        new = make(now)
        for pipeline in new:
            pipeline.load_state_dict(json.loads(state))
        assert [global_batch(new) for _ in range(5)] == expected[step : step + 5]
        assert global_batch(old) == expected[step]


def following(iterator: BaseIterator) -> Any:
    """Return the next batch, perhaps of the next epoch."""
    try:
        return next(iterator)
    except StopIteration:
        return next(iterator)


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize(
    "sharding", ["rotating", "stick_to_shard", "interleaved_shards", "shuffle_after_epoch"]
)
def test_the_state_of_one_shard_serves_all(sharding: str, pad: bool, files: dict[str, Any]) -> None:
    def make(shard: int) -> BaseIterator:
        how = {sharding: True} if sharding != "rotating" else {}
        pipeline = reading(
            files,
            {"batch_size": 2, **OPTIONS},
            random_shuffle=sharding != "shuffle_after_epoch",
            num_shards=3,
            shard_id=shard,
            pad_last_batch=pad,
            **how,
        )
        return BaseIterator(
            pipeline,
            ["label", "uniform", "normal"],
            ListAdapter(),
            reader_name="reader",
            auto_reset=True,
        )

    iterators = [make(shard) for shard in range(3)]
    for _ in range(7):
        state = iterators[0].state_dict()
        assert all(iterator.state_dict() == state for iterator in iterators)
        resumed = [make(shard) for shard in range(3)]
        for iterator in resumed:
            iterator.load_state_dict(state)
        for iterator, other in zip(resumed, iterators, strict=True):
            assert following(iterator) == following(other)


def test_number_of_shards_and_batches_must_fit(files: dict[str, Any]) -> None:
    def make(num_shards: int, batch_size: int, **reader: Any) -> Pipeline:
        options = {"batch_size": batch_size, **OPTIONS}
        return reading(files, options, num_shards=num_shards, random_shuffle=True, **reader)

    pipeline = make(2, 3, interleaved_shards=True)
    pipeline.run()
    with pytest.raises(StateMismatchError, match="num_shards=4 with batch_size=3, after 2 with 3"):
        make(4, 3, interleaved_shards=True).load_state_dict(pipeline.state_dict())
    pipeline.run()
    make(4, 3, interleaved_shards=True).load_state_dict(pipeline.state_dict())  # 12 samples
    ranges = make(2, 3)
    with pytest.raises(StateMismatchError, match=r"num_shards.*got 1, and 2.*interleaved"):
        make(1, 6).load_state_dict(ranges.state_dict())
    with pytest.raises(StateMismatchError, match="interleaved .*got True, and False"):
        make(2, 3, interleaved_shards=True).load_state_dict(ranges.state_dict())


@pytest.mark.parametrize("policy", list(LastBatchPolicy))
@pytest.mark.parametrize("pad", [False, True])
def test_iterators_resume_with_another_batch_size(
    policy: LastBatchPolicy, pad: bool, files: dict[str, Any]
) -> None:
    """Exactly the samples of the epoch are returned; sizes that do not work are rejected."""

    def make(batch_size: int) -> BaseIterator:
        pipeline = reading(files, {"batch_size": batch_size, **OPTIONS}, pad_last_batch=pad)
        return BaseIterator(
            pipeline,
            ["label", "uniform", "normal"],
            ListAdapter(),
            reader_name="reader",
            last_batch_policy=policy,
        )

    def epoch(iterator: BaseIterator) -> list[int]:
        return [label for batch in iterator for (label,) in batch[0]["label"]]

    before = make(4)
    next(before)
    state = before.state_dict()
    rest = {1: COUNT - 4, 2: COUNT - 4 + 1, 4: 8}
    for batch_size in (1, 2, 4):
        iterator = make(batch_size)
        iterator.load_state_dict(state)
        labels = epoch(iterator)
        count = rest[batch_size]
        if policy is LastBatchPolicy.PARTIAL:
            count = COUNT - 4
        elif policy is LastBatchPolicy.DROP:
            count = (COUNT - 4) // batch_size * batch_size
        extra = [COUNT - 1] if pad else [0]
        assert labels == (list(range(4, COUNT)) + extra)[:count]
        iterator.reset()
        assert len(epoch(iterator)) > 0
    with pytest.raises(StateMismatchError, match=r"(batches of|batch_size of) 1 or 2 or 4"):
        make(3).load_state_dict(state)


@pytest.mark.parametrize(("before", "now"), [(1, 2), (2, 1), (4, 2)])
@pytest.mark.parametrize("policy", list(LastBatchPolicy))
def test_iterators_resume_with_more_or_fewer_pipelines(
    policy: LastBatchPolicy, before: int, now: int, files: dict[str, Any]
) -> None:
    def make(num_shards: int) -> BaseIterator:
        pipelines = [
            reading(
                files,
                {"batch_size": 4 // num_shards, **OPTIONS},
                random_shuffle=True,
                interleaved_shards=True,
                pad_last_batch=True,
                num_shards=num_shards,
                shard_id=shard,
            )
            for shard in range(num_shards)
        ]
        return BaseIterator(
            pipelines,
            ["label", "uniform", "normal"],
            ListAdapter(),
            reader_name="reader",
            last_batch_policy=policy,
            auto_reset=True,
        )

    def epoch(iterator: BaseIterator) -> list[list[int]]:
        return [sorted(label for part in batch for (label,) in part["label"]) for batch in iterator]

    whole = make(1)
    expected = epoch(whole) + epoch(whole)
    old = make(before)
    for step in range(3 if policy is not LastBatchPolicy.DROP else 2):
        new = make(now)
        new.load_state_dict(json.loads(json.dumps(old.state_dict())))
        assert epoch(new) + epoch(new) == expected[step:]
        next(old)
