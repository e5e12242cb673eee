"""Batches of an iterator's epochs.

Everything follows from the epoch's number: an iterator keeps that number and how many batches it
has taken in the epoch, and asks here for the rest.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dali_core._runtime.epoch_plan import EpochPlan, ceil_div


class LastBatchPolicy(enum.Enum):
    """What an iterator does when an epoch's samples do not fill its last batch."""

    FILL = 0
    """Return a full batch: padding, or the first samples of the next epoch, complete it."""
    DROP = 1
    """Leave the batch out."""
    PARTIAL = 2
    """Return only the samples of the epoch."""


class IncompleteEpochWarning(UserWarning):
    """An epoch of an iterator lacks samples of the data set, without a request for that."""


@dataclass(frozen=True)
class BatchSchedule:
    """The batches of one shard that are taken from its pipeline, and returned, in each epoch.

    All shards of a data set get equal numbers of batches in every epoch, so that processes that
    train together stay in step.

    Parameters
    ----------
    plan : EpochPlan
        Shard whose samples are counted.
    batch_size : int
        Samples in a full batch.
    policy : LastBatchPolicy
        What to do with the last batch.
    """

    plan: EpochPlan
    batch_size: int
    policy: LastBatchPolicy

    def first_batch(self, epoch: int) -> int:
        """Return how many batches are taken from the pipeline before `epoch` begins."""
        plan = self.plan
        if self.policy is LastBatchPolicy.DROP:
            return epoch * ceil_div(plan.smallest_shard, self.batch_size)
        if self.policy is LastBatchPolicy.PARTIAL or plan.pad_last_batch:
            return epoch * plan.num_batches(self.batch_size)
        # A batch that straddles an epoch's end spares the next epoch some samples.
        # An epoch that is entirely within a batch of the one before still gets a batch.
        return max(epoch, ceil_div(self._most_needed(epoch), self.batch_size))

    def _most_needed(self, epoch: int) -> int:
        """Return how many samples come before `epoch` in the shard where they are most.

        That one decides for all: it has ceil(e*N/S) samples in e epochs if the shards take turns at
        being the largest, and e*ceil(N/S) if one always is.
        """
        plan = self.plan
        if plan.stick_to_shard:
            return epoch * plan.largest_shard
        return ceil_div(epoch * plan.num_samples, plan.num_shards)

    def counted(self, epoch: int, taken: int) -> int:
        """Return how many samples of `epoch` were read when `taken` of its batches are.

        Where batches straddle epochs, some of these came with the epoch before.
        """
        if self.policy is not LastBatchPolicy.FILL or self.plan.pad_last_batch:
            return taken * self.batch_size
        ahead = self.first_batch(epoch) * self.batch_size - self._most_needed(epoch)
        # A batch may hold whole epochs.
        return ahead % self.plan.smallest_shard + taken * self.batch_size

    def num_taken(self, epoch: int) -> int:
        """Return the number of batches taken from the pipeline in `epoch`."""
        return self.first_batch(epoch + 1) - self.first_batch(epoch)

    def num_given(self, epoch: int) -> int:
        """Return the number of batches returned in `epoch`: `num_taken`, less a dropped one."""
        if self.policy is LastBatchPolicy.DROP:
            return self.plan.smallest_shard // self.batch_size
        return self.num_taken(epoch)

    def num_valid(self, epoch: int, index: int) -> int:
        """Return how many samples of batch `index` of `epoch` are returned."""
        if self.policy is not LastBatchPolicy.PARTIAL:
            return self.batch_size
        left = self.plan.shard_size(epoch) - index * self.batch_size
        return max(0, min(left, self.batch_size))

    def num_in_epoch(self, epoch: int, index: int) -> int:
        """Return how many samples of batch `index` belong to `epoch`; they come first in it.

        What else the batch holds is padding, or belongs to the next epoch.
        """
        if self.policy is not LastBatchPolicy.FILL:
            return self.num_valid(epoch, index)
        if self.plan.pad_last_batch:
            left = self.plan.shard_size(epoch) - index * self.batch_size
        else:
            begin = (self.first_batch(epoch) + index) * self.batch_size
            left = self.plan.epoch_start(epoch + 1, self.batch_size) - begin
        return max(0, min(left, self.batch_size))

    @property
    def drifts(self) -> bool:
        """Whether the epochs of iterator and reader begin at different samples, but for the first.

        A cut or dropped batch takes samples of the next epoch with it, unless it is padded.
        """
        plan = self.plan
        if self.policy is LastBatchPolicy.FILL:
            return False
        if plan.pad_last_batch:
            return self.first_batch(1) != plan.num_batches(self.batch_size)
        return not self.fits

    @property
    def fits(self) -> bool:
        """Whether full batches of all shards are exactly an epoch."""
        plan = self.plan
        return (
            plan.num_batches(self.batch_size) * self.batch_size * plan.num_shards
            == plan.num_samples
        )

    def divided(self, num_shards: int, batch_size: int) -> BatchSchedule:
        """Return the schedule of the same data with other shards and batches."""
        plan = replace(self.plan, num_shards=num_shards, shard_id=0)
        return replace(self, plan=plan, batch_size=batch_size)

    def resumed(self, before: BatchSchedule, epoch: int, taken: int) -> int | None:
        """Return how many batches of `epoch` are taken, if `taken` of another schedule were.

        Returns
        -------
        int or None
            None if that is no whole number of batches, or in another epoch.
        """
        together = self.batch_size * self.plan.num_shards
        one_before = before.batch_size * before.plan.num_shards
        if (self.plan.num_shards, self.batch_size) == (before.plan.num_shards, before.batch_size):
            return taken
        if self.policy is LastBatchPolicy.FILL and not self.plan.pad_last_batch:
            # Batches straddle epochs, so they are counted from the very beginning.
            batches, rest = divmod((before.first_batch(epoch) + taken) * one_before, together)
            batches -= self.first_batch(epoch)
            return batches if not rest and 0 <= batches <= self.num_taken(epoch) else None
        if taken == before.num_taken(epoch):
            return self.num_taken(epoch)
        batches, rest = divmod(taken * one_before, together)
        return batches if not rest else None


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
    batch_size : int
        Samples in a batch of each pipeline.
    policy : LastBatchPolicy
        What to do with the last batch.
    """

    def __init__(
        self, plans: Sequence[EpochPlan], batch_size: int, policy: LastBatchPolicy
    ) -> None:
        self._schedules = [BatchSchedule(plan, batch_size, policy) for plan in plans]
        # All shards have the same number of batches, so any of them can count.
        super().__init__(self._schedules[0])

    def describe(self, num_epochs: int) -> str:
        """Return what each pipeline reads in the first epochs, and the batches of these."""
        plans = [
            f"pipeline {index}: {schedule.plan.describe(schedule.batch_size, num_epochs)}"
            for index, schedule in enumerate(self._schedules)
        ]
        return "\n".join([*plans, "batches", super().describe(num_epochs)])

    @property
    def lacks_samples(self) -> bool:
        """Whether epochs lack samples that no policy leaves out."""
        return self.schedule.drifts and self.schedule.policy is LastBatchPolicy.PARTIAL

    def losses(self) -> list[str]:
        """Return a sentence for each reason why samples are left out or given again."""
        schedule, plan = self.schedule, self.schedule.plan
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
        return [schedule.plan.shard(epoch) for schedule in self._schedules]

    def size(self, epoch: int) -> int:
        """Return the size of a shard: the smallest with DROP, else the largest.

        Where batches straddle epochs, it is the number of samples that the batches hold.
        """
        plan = self.schedule.plan
        if self.schedule.policy is LastBatchPolicy.DROP:
            return plan.smallest_shard
        if plan.pad_last_batch:
            return plan.largest_shard
        return self.num_taken(epoch) * self.schedule.batch_size

    def length(self, epoch: int) -> int:
        """Return the number of batches of `epoch`, which differs from epoch to epoch."""
        return self.num_given(epoch)

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
    num_pipelines, batch_size : int
        Number of pipelines, and samples in a batch of each.
    policy : LastBatchPolicy
        What to do with the last batch.
    """

    def __init__(
        self, size: int, padded: bool, num_pipelines: int, batch_size: int, policy: LastBatchPolicy
    ) -> None:
        plan = EpochPlan(size, pad_last_batch=padded)
        super().__init__(BatchSchedule(plan, num_pipelines * batch_size, policy))
        self._num_pipelines = num_pipelines
        self._batch_size = batch_size

    def size(self, epoch: int) -> int:
        """Return the size that was given, in every epoch."""
        return self.schedule.plan.num_samples

    def length(self, epoch: int) -> int:
        """Return the length of the first epoch for all, as the reference does.

        A later epoch that begins within a batch may be one shorter.
        """
        return self.num_given(0)

    def num_valid(self, epoch: int, index: int) -> Sequence[int]:
        """Return full batches, then a partial one, then nothing."""
        full, rest = divmod(self.schedule.num_valid(epoch, index), self._batch_size)
        return [self._batch_size] * full + ([rest] if rest else [])

    def num_in_epoch(self, epoch: int, index: int) -> Sequence[int]:
        """Return full batches, then a partial one, then zeros."""
        left = self.schedule.num_in_epoch(epoch, index)
        batch = self._batch_size
        return [max(0, min(left - i * batch, batch)) for i in range(self._num_pipelines)]
