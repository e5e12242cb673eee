"""Epochs of iterators, over one or several pipelines in step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from dali_core.batching.epoch_plan import EpochPlan
from dali_core.batching.fixed import Fixed
from dali_core.batching.plan import Batching
from dali_core.batching.schedule import (
    BatchSchedule,
    IncompleteEpochWarning,
    LastBatchPolicy,
)

__all__ = [
    "BatchSchedule",
    "Epochs",
    "IncompleteEpochWarning",
    "LastBatchPolicy",
    "ReaderEpochs",
    "SizedEpochs",
]


class Epochs(ABC):
    """Epochs of an iterator over one or several pipelines, which move in step.

    Parameters
    ----------
    schedule : BatchSchedule
        Counts the batches.
    """

    def __init__(self, schedule: BatchSchedule) -> None:
        self.schedule = schedule

    def num_taken(self, epoch: int) -> int:
        """Return the number of batches taken from every pipeline in `epoch`."""
        return self.schedule.num_taken(epoch)

    def num_given(self, epoch: int) -> int:
        """Return the number of batches returned in `epoch`."""
        return self.schedule.num_given(epoch)

    def lead(self, epoch: int) -> int:
        """Return how many more an epoch has, before these, if the last one was left early."""
        return self.schedule.lead(epoch)

    @abstractmethod
    def size(self, epoch: int) -> int:
        """Return the number of samples that an epoch counts."""

    @abstractmethod
    def length(self, epoch: int) -> int:
        """Return the number of batches that ``len()`` promises for `epoch`."""

    def describe(self, num_epochs: int) -> str:
        """Return a table of the batches of the first epochs."""
        lines = []
        for epoch in range(num_epochs):
            given, taken = self.num_given(epoch), self.num_taken(epoch)
            first = self.schedule.first_batch(epoch)
            dropped = " and drops 1" if given < taken else ""
            valid = list(self.num_valid(epoch, given - 1)) if given else "no"
            lines.append(
                f"epoch {epoch}: takes batches {first} to {first + taken - 1} of each pipeline"
                f"{dropped}; the last one given has {valid} samples"
            )
        return "\n".join(lines)

    @property
    def lacks_samples(self) -> bool:
        """Whether epochs lack samples that no policy leaves out, as far as is known."""
        return False

    def losses(self) -> list[str]:
        """Return a sentence for each reason why samples are left out or given again, if known."""
        return []

    @abstractmethod
    def num_samples(self, epoch: int, index: int) -> int:
        """Return the number of samples in batch `index` of `epoch`, of each pipeline."""

    @abstractmethod
    def num_valid(self, epoch: int, index: int) -> Sequence[int]:
        """Return how many samples of batch `index` are returned, for each pipeline.

        Pipelines beyond the end of the sequence give nothing, not even an empty batch.
        """

    @abstractmethod
    def num_in_epoch(self, epoch: int, index: int) -> Sequence[int]:
        """Return how many samples of batch `index` belong to `epoch`, for each pipeline."""


class ReaderEpochs(Epochs):
    """Epochs that follow a reader: every pipeline reads a shard of the same data.

    Parameters
    ----------
    plans : sequence of EpochPlan
        Each pipeline's reader.
    batching : Batching
        Batches of each pipeline.
    policy : LastBatchPolicy
        What to do with the last batch.
    """

    def __init__(
        self, plans: Sequence[EpochPlan], batching: Batching, policy: LastBatchPolicy
    ) -> None:
        self._schedules = [BatchSchedule(batching.plan(plan), policy) for plan in plans]
        # All shards have the same number of batches, so any of them can count.
        super().__init__(self._schedules[0])

    def describe(self, num_epochs: int) -> str:
        """Return what each pipeline reads in the first epochs, and the batches of these."""
        plans = [
            f"pipeline {index}: {schedule.plan.describe(num_epochs)}"
            for index, schedule in enumerate(self._schedules)
        ]
        return "\n".join([*plans, "batches", super().describe(num_epochs)])

    @property
    def lacks_samples(self) -> bool:
        """Whether epochs lack samples that no policy leaves out."""
        return self.schedule.drifts and self.schedule.policy is LastBatchPolicy.PARTIAL

    def losses(self) -> list[str]:
        """Return a sentence for each reason why samples are left out or given again."""
        schedule, plan = self.schedule, self.schedule.plan.epochs
        sentences = []
        if schedule.policy is LastBatchPolicy.DROP and not schedule.fits:
            sentences.append("Every epoch leaves out what does not fill a batch in all shards.")
        if schedule.drifts and plan.pad_last_batch:
            sentences.append(
                "Every epoch but the first begins with what was left of the one before, since the "
                "smallest and the largest shard need different numbers of batches. Use "
                "last_batch_policy=LastBatchPolicy.PARTIAL or another batch size."
            )
        elif schedule.drifts:
            sentences.append(
                "Every epoch but the first lacks samples, and gives some of the next epoch "
                f"instead, since with last_batch_policy={schedule.policy.name} the rest of a batch "
                "is lost that continues with the next epoch. Set pad_last_batch=True in the reader."
            )
        is_padded = plan.pad_last_batch and not schedule.fits
        if is_padded and schedule.policy is LastBatchPolicy.FILL:
            sentences.append(
                "Every epoch repeats the last samples of shards (padding). "
                "last_batch_policy=LastBatchPolicy.PARTIAL leaves the repetitions out."
            )
        return sentences

    def shards(self, epoch: int) -> Sequence[int]:
        """Return which shard each pipeline reads in `epoch`."""
        return [schedule.plan.epochs.shard(epoch) for schedule in self._schedules]

    def size(self, epoch: int) -> int:
        """Return the size of a shard: the smallest with DROP, else the largest.

        Where batches straddle epochs, it is the number of samples that the batches hold.
        """
        plan = self.schedule.plan.epochs
        if self.schedule.policy is LastBatchPolicy.DROP:
            return plan.smallest_shard
        if plan.pad_last_batch:
            return plan.largest_shard
        return self.schedule.plan.position(self.num_taken(epoch))

    def length(self, epoch: int) -> int:
        """Return the number of batches of `epoch`, which differs from epoch to epoch."""
        return self.num_given(epoch)

    def num_samples(self, epoch: int, index: int) -> int:
        """Return the number of samples in a batch, which is the same for all pipelines."""
        return self.schedule.num_samples(epoch, index)

    def num_valid(self, epoch: int, index: int) -> Sequence[int]:
        """Return one number for each pipeline, 0 for a shard that has run out."""
        return [schedule.num_valid(epoch, index) for schedule in self._schedules]

    def num_in_epoch(self, epoch: int, index: int) -> Sequence[int]:
        """Return one number for each pipeline, whatever the policy."""
        return [schedule.num_in_epoch(epoch, index) for schedule in self._schedules]


class SizedEpochs(Epochs):
    """Epochs of a given number of samples, which the pipelines deliver in turn, batch by batch.

    Parameters
    ----------
    size : int
        Samples of an epoch, of all pipelines together.
    padded : bool
        Whether the pipelines repeat a sample to fill their last batches.
    num_pipelines : int
        Number of pipelines.
    batching : Fixed
        Batches of each of them.
    policy : LastBatchPolicy
        What to do with the last batch.
    """

    def __init__(
        self, size: int, padded: bool, num_pipelines: int, batching: Fixed, policy: LastBatchPolicy
    ) -> None:
        plan = EpochPlan(size, pad_last_batch=padded)
        super().__init__(BatchSchedule(batching.joined(num_pipelines).plan(plan), policy))
        self._num_pipelines = num_pipelines
        self._size = batching.size

    def size(self, epoch: int) -> int:
        """Return the size that was given, in every epoch."""
        return self.schedule.plan.epochs.num_samples

    def length(self, epoch: int) -> int:
        """Return the length of the first epoch for all, as the reference does.

        A later epoch that begins within a batch may be one shorter.
        """
        return self.num_given(0)

    def num_samples(self, epoch: int, index: int) -> int:
        """Return the number of samples in every batch of every pipeline."""
        return self._size

    def num_valid(self, epoch: int, index: int) -> Sequence[int]:
        """Return full batches, then a partial one, then nothing."""
        full, rest = divmod(self.schedule.num_valid(epoch, index), self._size)
        return [self._size] * full + ([rest] if rest else [])

    def num_in_epoch(self, epoch: int, index: int) -> Sequence[int]:
        """Return full batches, then a partial one, then zeros."""
        left = self.schedule.num_in_epoch(epoch, index)
        batch = self._size
        return [max(0, min(left - i * batch, batch)) for i in range(self._num_pipelines)]
