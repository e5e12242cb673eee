"""Random iterators, against a simulation that counts samples one by one."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import pytest

from dali_core.plugin.base_iterator import BaseIterator, LastBatchPolicy
from tests.plugin.fake_pipeline import ListAdapter, reader_pipeline, shard_of_epoch

# Epochs that are not the data set are allowed, too.
pytestmark = pytest.mark.filterwarnings(
    "ignore::dali_core.plugin.base_iterator.IncompleteEpochWarning"
)

FILL, DROP, PARTIAL = LastBatchPolicy
EPOCHS = 4


@dataclass(frozen=True)
class Case:
    num_samples: int
    num_shards: int
    shards: tuple[int, ...]
    batch_size: int
    stick: bool
    pad: bool
    policy: LastBatchPolicy
    size: int | None  # None: follow the reader
    auto_reset: bool
    prepare: bool

    @classmethod
    def draw(cls, rng: random.Random) -> Case:
        num_samples = rng.randint(1, 25)
        num_shards = rng.randint(1, min(num_samples, 5))
        return cls(
            num_samples,
            num_shards,
            tuple(rng.sample(range(num_shards), rng.randint(1, num_shards))),
            rng.randint(1, 9),
            rng.random() < 0.5,
            rng.random() < 0.4,
            rng.choice(list(LastBatchPolicy)),
            rng.choice([None, None, rng.randint(1, 40)]),
            rng.random() < 0.5,
            rng.random() < 0.5,
        )

    def pipelines(self) -> list[Any]:
        return [
            reader_pipeline(
                self.num_samples,
                self.batch_size,
                self.num_shards,
                shard,
                stick=self.stick,
                pad=self.pad,
            )
            for shard in self.shards
        ]

    def iterator(self) -> BaseIterator:
        counted: dict[str, Any] = {"reader_name": "reader"}
        if self.size is not None:
            counted = {"size": self.size, "last_batch_padded": self.pad}
        return BaseIterator(
            self.pipelines(),
            ["number"],
            ListAdapter(),
            auto_reset=self.auto_reset,
            prepare_first_batch=self.prepare,
            last_batch_policy=self.policy,
            **counted,
        )


def simulate_reader(case: Case) -> list[list[list[list[int]]]]:
    """Every process of the job takes batches until each has seen the samples of its epoch."""
    streams = [_stream(pipeline) for pipeline in case.pipelines()]
    ahead = [0] * case.num_shards  # samples of this epoch that were returned in the last one
    epochs = []
    for epoch in range(EPOCHS):
        sizes = [
            len(shard_of_epoch(case.num_samples, case.num_shards, shard, case.stick, epoch))
            for shard in range(case.num_shards)
        ]
        batches: list[list[list[int]]] = []
        if case.policy is FILL and not case.pad:
            while not batches or any(ahead[i] < sizes[i] for i in range(case.num_shards)):
                batches.append([next(stream) for stream in streams])
                ahead = [count + case.batch_size for count in ahead]
            ahead = [count - size for count, size in zip(ahead, sizes, strict=True)]
        elif case.policy is DROP:
            left = case.num_samples // case.num_shards
            while left > 0:
                batch = [next(stream) for stream in streams]
                if left >= case.batch_size:
                    batches.append(batch)
                left -= case.batch_size
        else:
            longest = -(-case.num_samples // case.num_shards)
            left_of = [sizes[shard] for shard in case.shards]
            while longest > 0:
                batch = [next(stream) for stream in streams]
                if case.policy is PARTIAL:
                    batch = [
                        samples[: max(left, 0)]
                        for samples, left in zip(batch, left_of, strict=True)
                    ]
                batches.append(batch)
                longest -= case.batch_size
                left_of = [left - case.batch_size for left in left_of]
        epochs.append(batches)
    return epochs


def simulate_size(case: Case) -> list[list[list[list[int]]]]:
    """Count the samples of all pipelines together."""
    assert case.size is not None
    streams = [_stream(pipeline) for pipeline in case.pipelines()]
    epochs = []
    count = 0
    for _ in range(EPOCHS):
        batches = []
        while count < case.size:
            samples = [next(stream) for stream in streams]
            count += sum(map(len, samples))
            excess = count - case.size
            if case.policy is PARTIAL and excess > 0:
                for index in reversed(range(len(samples))):
                    cut = min(excess, len(samples[index]))
                    excess -= cut
                    samples[index] = samples[index][: len(samples[index]) - cut]
                samples = [part for part in samples if part]
            if not (case.policy is DROP and excess > 0):
                batches.append(samples)
        count = count % case.size if case.policy is FILL and not case.pad else 0
        epochs.append(batches)
    return epochs


def _stream(pipeline: Any) -> Any:
    return iter(pipeline._batches())


def observe(case: Case) -> list[list[list[list[int]]]]:
    iterator = case.iterator()
    epochs = []
    for _ in range(EPOCHS):
        iter(iterator)  # starts the epoch, whose length is then known
        length, size = len(iterator), iterator.size
        batches = [[shard["number"] for shard in batch] for batch in iterator]
        if case.size is None:
            assert length == len(batches), case
            assert length == -(-size // case.batch_size) - (
                case.policy is DROP and size % case.batch_size > 0
            )
        else:
            assert size == case.size
        epochs.append(batches)
    return epochs


@pytest.mark.parametrize("seed", range(8))
def test_random_iterators(seed: int) -> None:
    rng = random.Random(seed)
    num_compared = 0
    for _ in range(500):
        case = Case.draw(rng)
        expected = simulate_reader(case) if case.size is None else simulate_size(case)
        if case.prepare and not expected[0]:
            with pytest.raises(RuntimeError, match="at least one batch"):
                case.iterator()
        else:
            assert observe(case) == expected, case
            num_compared += 1
    assert num_compared > 400


@pytest.mark.parametrize("policy", LastBatchPolicy)
@pytest.mark.parametrize("stick", [False, True])
@pytest.mark.parametrize("pad", [False, True])
def test_all_processes_of_a_job_have_equal_batch_counts(
    policy: LastBatchPolicy, stick: bool, pad: bool
) -> None:
    for num_samples in range(4, 30):
        for batch_size in range(1, 9):
            lengths = []
            for shard in range(4):
                iterator = Case(
                    num_samples, 4, (shard,), batch_size, stick, pad, policy, None, True, False
                ).iterator()
                lengths.append([len(list(iterator)) for _ in range(EPOCHS)])
            assert lengths == [lengths[0]] * 4


@pytest.mark.parametrize("pad", [False, True])
def test_partial_epochs_hold_each_sample_once_where_padded(pad: bool) -> None:
    for num_samples in range(1, 20):
        for batch_size in range(1, 8):
            case = Case(num_samples, 1, (0,), batch_size, False, pad, PARTIAL, None, True, True)
            for epoch in observe(case):
                numbers = sorted(number for batch in epoch for number in batch[0])
                assert numbers == list(range(num_samples)), case
