"""Epochs of iterators, over one or several pipelines in step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence

from dali_core.batching.epoch_plan import EpochPlan
from dali_core.batching.fixed import Fixed
from dali_core.batching.plan import Batching
from dali_core.batching.planned_schedule import PlannedSchedule, make_schedule
from dali_core.batching.planned_step import PlannedStep, joined
from dali_core.batching.schedule import (
    BatchSchedule,
    IncompleteEpochWarning,
    LastBatchPolicy,
)
from dali_core.plugin.epoch_samples import EpochSamples, count_samples, num_dropped

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

    def has_batch(self, epoch: int, index: int) -> bool:
        """Return whether batch `index` of `epoch` is returned, if possible without counting all."""
        return self.schedule.has_batch(epoch, index)

    def is_dropped(self, epoch: int, index: int) -> bool:
        """Return whether batch `index` of `epoch` is taken from the pipelines, and not returned."""
        return self.schedule.is_dropped(epoch, index)

    def step(self, epoch: int, index: int) -> PlannedStep | None:
        """Describe batch `index` of `epoch`; None where samples have no lengths."""
        return None

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
                f"{dropped}; the last one given has {valid} samples; all shards give "
                f"{self.samples(epoch)}"
            )
        return "\n".join(lines)

    def samples(self, epoch: int) -> EpochSamples:
        """Return how many samples all shards give in `epoch`, and of which epochs."""
        return count_samples(self.schedule, epoch)

    @property
    def is_exact(self) -> bool:
        """Whether every epoch has its samples once each, but for those that DROP leaves out."""
        return self.schedule.is_exact

    def differs_before(self, epoch: int) -> bool:
        """Return whether samples are missing in `epoch`, beside those that DROP leaves out."""
        return not self.is_exact and self.samples(epoch).missing > num_dropped(self.schedule)

    def differs_within(self, epoch: int) -> bool:
        """Return whether `epoch` ends with padding, or with samples of another epoch."""
        return not self.is_exact and self.samples(epoch).others > 0

    def differs_at(self, epoch: int, index: int, *, lead: int, marks_others: bool) -> bool:
        """Return whether a batch is a sign that `epoch` is not exactly the data set.

        Only where it is: many programs have one epoch, or leave it early.

        Parameters
        ----------
        epoch, index : int
            The batch.
        lead : int
            How many batches more the epoch has before its own, as it follows one left early.
        marks_others : bool
            Whether batches have a mask of the samples that belong to the epoch.
        """
        if index == 0 == lead and self.differs_before(epoch):
            return True
        is_last = index == self.num_given(epoch) - 1
        return is_last and not marks_others and self.differs_within(epoch)

    def losses(self) -> list[str]:
        """Return a sentence for each reason why samples are left out or given again."""
        schedule, policy = self.schedule, self.schedule.policy
        sentences = []
        if policy is LastBatchPolicy.DROP and not schedule.fits:
            sentences.append(
                f"Every epoch leaves out {num_dropped(schedule)} of "
                f"{schedule.plan.epochs.num_samples} samples, which fill no batch in all shards."
            )
        if not self.is_exact:
            sentences.append(self._loss())
        return sentences

    def _loss(self) -> str:
        """Return why epochs are not those of the data set, with the numbers of the first."""
        is_padded = self.schedule.plan.epochs.pad_last_batch
        epoch = next((epoch for epoch in range(8) if self._differs(epoch)), 1)
        found = f"Epoch {epoch} gives {self.samples(epoch)}"
        if self.schedule.policy is LastBatchPolicy.FILL:
            if is_padded:
                return (
                    f"{found}: every epoch repeats the last samples of shards (padding). "
                    "last_batch_policy=LastBatchPolicy.PARTIAL leaves the repetitions out."
                )
            return (
                f"{found}, and epoch {epoch + 1} {self.samples(epoch + 1)}: with "
                "last_batch_policy=FILL a batch continues with the next epoch, which then lacks "
                "these samples. Pass last_batch_policy=LastBatchPolicy.PARTIAL for every sample "
                f"once. {self._cure}"
            )
        if is_padded:
            return (
                f"{found}: every epoch but the first begins with what was left of the one before, "
                "since the smallest and the largest shard need different numbers of batches. Use "
                "last_batch_policy=LastBatchPolicy.PARTIAL or another batch size."
            )
        return (
            f"{found}: every epoch but the first lacks samples, and gives some of the next epoch "
            f"instead, since with last_batch_policy={self.schedule.policy.name} the rest of a "
            f"batch is lost that continues with the next epoch. {self._cure}"
        )

    def _differs(self, epoch: int) -> bool:
        return self.differs_before(epoch) or self.differs_within(epoch)

    _cure = "Set pad_last_batch=True in the reader."

    @abstractmethod
    def num_samples(self, epoch: int, index: int) -> Sequence[Collection[int]]:
        """Return how many samples batch `index` of `epoch` may have, for each pipeline."""

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
        self._schedules = [make_schedule(batching, plan, policy) for plan in plans]
        # All shards have the same number of batches, so any of them can count.
        super().__init__(self._schedules[0])

    def describe(self, num_epochs: int) -> str:
        """Return what each pipeline reads in the first epochs, and the batches of these."""
        plans = [
            f"pipeline {index}: {schedule.plan.describe(num_epochs)}"
            for index, schedule in enumerate(self._schedules)
        ]
        if isinstance(self.schedule, PlannedSchedule):
            return "\n".join(plans)
        return "\n".join([*plans, "batches", super().describe(num_epochs)])

    def step(self, epoch: int, index: int) -> PlannedStep | None:
        """Describe batch `index` of `epoch`, that of all pipelines here together."""
        steps = [schedule.step(epoch, index) for schedule in self._schedules]
        return joined(steps)

    @property
    def is_exact(self) -> bool:
        """Whether every epoch has its samples once each; that of planned batches says so itself."""
        return isinstance(self.schedule, PlannedSchedule) or super().is_exact

    def losses(self) -> list[str]:
        """Return a sentence for each reason why samples are left out or given again."""
        schedule = self.schedule
        return schedule.losses() if isinstance(schedule, PlannedSchedule) else super().losses()

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
        if plan.pad_last_batch or isinstance(self.schedule, PlannedSchedule):
            return plan.largest_shard
        return self.schedule.plan.position(self.num_taken(epoch))

    def length(self, epoch: int) -> int:
        """Return the number of batches of `epoch`, which differs from epoch to epoch."""
        return self.num_given(epoch)

    def num_samples(self, epoch: int, index: int) -> Sequence[Collection[int]]:
        """Return the size of each pipeline's batch, and how many rows it is packed into."""
        return [schedule.sizes(epoch, index) for schedule in self._schedules]

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
    is_read : bool
        Whether the pipelines have a reader, so that the rest of a batch is lost with the epoch. A
        source in Python may start over instead.
    """

    _cure = (
        "Set pad_last_batch=True in the reader, and pass reader_name instead of size, or "
        "last_batch_padded=True with it."
    )

    def __init__(
        self,
        size: int,
        padded: bool,
        num_pipelines: int,
        batching: Fixed,
        policy: LastBatchPolicy,
        *,
        is_read: bool = True,
    ) -> None:
        plan = EpochPlan(size, pad_last_batch=padded)
        super().__init__(BatchSchedule(batching.joined(num_pipelines).plan(plan), policy))
        self._num_pipelines = num_pipelines
        self._size = batching.size
        self._is_continuous = is_read or policy is LastBatchPolicy.FILL

    @property
    def is_exact(self) -> bool:
        """Whether every epoch has as many samples as were asked for, as far as is known."""
        return self.schedule.is_exact or not self._is_continuous

    def samples(self, epoch: int) -> EpochSamples:
        """Return how many samples all pipelines give, if the stream has an epoch's only once."""
        samples = super().samples(epoch)
        return samples if self._is_continuous else samples._replace(own=samples.given)

    def size(self, epoch: int) -> int:
        """Return the size that was given, in every epoch."""
        return self.schedule.plan.epochs.num_samples

    def length(self, epoch: int) -> int:
        """Return the length of the first epoch for all, as the reference does.

        A later epoch that begins within a batch may be one shorter.
        """
        return self.num_given(0)

    def num_samples(self, epoch: int, index: int) -> Sequence[Collection[int]]:
        """Return the number of samples in every batch of every pipeline."""
        return [(self._size,)] * self._num_pipelines

    def num_valid(self, epoch: int, index: int) -> Sequence[int]:
        """Return full batches, then a partial one, then nothing."""
        full, rest = divmod(self.schedule.num_valid(epoch, index), self._size)
        return [self._size] * full + ([rest] if rest else [])

    def num_in_epoch(self, epoch: int, index: int) -> Sequence[int]:
        """Return full batches, then a partial one, then zeros."""
        left = self.schedule.num_in_epoch(epoch, index)
        batch = self._size
        return [max(0, min(left - i * batch, batch)) for i in range(self._num_pipelines)]
