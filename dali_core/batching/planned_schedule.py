"""Batches of an iterator's epochs, where samples are divided by their lengths."""

from __future__ import annotations

from dataclasses import dataclass

from dali_core.batching.epoch_plan import EpochPlan
from dali_core.batching.plan import Batching
from dali_core.batching.planned import PlannedPlan
from dali_core.batching.planned_step import PlannedStep
from dali_core.batching.schedule import BatchSchedule, LastBatchPolicy


@dataclass(frozen=True)
class PlannedSchedule(BatchSchedule):
    """The batches of one shard in each epoch, of which no epoch has samples of another.

    A last step without a bin for each process is one of the epoch if the reader pads it. With DROP
    it is left out in all processes; else those without a bin give an earlier one (FILL), or an
    empty batch (PARTIAL).
    """

    plan: PlannedPlan

    def _first_batch(self, epoch: int) -> int:
        return self.plan.epoch_start(epoch)

    def ahead(self, epoch: int, later: int) -> int:
        """Return how many batches a pipeline gives from one epoch's first to another's.

        Numbers of batches continue past the end of an epoch with those of the next one.
        """
        return sum(map(self.plan.num_steps, range(epoch, later)))

    def has_batch(self, epoch: int, index: int) -> bool:
        """Return whether batch `index` of `epoch` is returned, without counting all of them."""
        if self.policy is LastBatchPolicy.DROP:
            return self.plan.has_full_step(epoch, index)
        return self.plan.has_step(epoch, index)

    def is_dropped(self, epoch: int, index: int) -> bool:
        """Return whether batch `index` of `epoch` is taken from the pipeline, and not returned."""
        return self.plan.has_step(epoch, index) and not self.has_batch(epoch, index)

    def num_taken(self, epoch: int) -> int:
        """Return the number of batches taken from the pipeline in `epoch`."""
        return self.plan.num_steps(epoch)

    def num_given(self, epoch: int) -> int:
        """Return the number of batches returned in `epoch`."""
        if self.policy is LastBatchPolicy.DROP:
            return self.plan.num_full_steps(epoch)
        return self.plan.num_steps(epoch)

    def lead(self, epoch: int) -> int:
        """Return 0: no epoch has samples in a batch of the one before."""
        return 0

    def counted(self, epoch: int, taken: int) -> int:
        """Return how many samples of `epoch` were read when `taken` of its batches are."""
        return sum(self.plan.step_size(epoch, step) for step in range(taken))

    def sizes(self, epoch: int, index: int) -> tuple[int, ...]:
        """Return the number of samples of a batch, and that of the rows they may be packed into."""
        bins = self.plan.step_bins(epoch, index)
        return (self.num_samples(epoch, index), len(bins))

    def num_valid(self, epoch: int, index: int) -> int:
        """Return how many samples of batch `index` of `epoch` are returned."""
        if self.policy is LastBatchPolicy.PARTIAL and not self.plan.weight(epoch, index):
            return 0
        return self.num_samples(epoch, index)

    def num_in_epoch(self, epoch: int, index: int) -> int:
        """Return how many samples of batch `index` are not given in another batch of `epoch`."""
        return self.num_samples(epoch, index) * self.plan.weight(epoch, index)

    def step(self, epoch: int, index: int) -> PlannedStep:
        """Describe batch `index` of `epoch`."""
        return self.plan.step(epoch, index)

    @property
    def drifts(self) -> bool:
        """Whether the epochs of iterator and reader begin at different samples: never."""
        return False

    def losses(self) -> list[str]:
        """Return a sentence on what is left out of the first epoch, or given again."""
        plan, data = self.plan, self.plan.epochs
        num_bins = len(plan.batching.bins(0))
        rest = num_bins - plan.num_full_steps(0) * data.num_shards * plan.batching.rows
        if not rest:
            return []
        is_dropped = self.policy is LastBatchPolicy.DROP or not data.pad_last_batch
        if is_dropped:
            return [
                f"Every epoch leaves out what is not a step of all processes: {rest} of {num_bins} "
                "bins in the first. Set pad_last_batch=True in the reader."
            ]
        if self.policy is LastBatchPolicy.FILL:
            return [
                "In the last step of an epoch, processes without a bin give an earlier one, of "
                "weight 0. last_batch_policy=LastBatchPolicy.PARTIAL gives an empty batch."
            ]
        return []

    def resumed(
        self, before: BatchSchedule, epoch: int, taken: int, *, is_fresh: bool = False
    ) -> int | None:
        """Return how many batches of `epoch` are taken, if `taken` of another schedule were."""
        if self.plan.is_like(before.plan):
            return taken
        if not before.has_batch(epoch, taken):
            return self.num_given(epoch)
        count = self.plan.aligned(before.plan, taken)
        return None if count is None else min(count, self.num_given(epoch))


def make_schedule(batching: Batching, epochs: EpochPlan, policy: LastBatchPolicy) -> BatchSchedule:
    """Return the schedule of a shard's batches."""
    plan = batching.plan(epochs)
    if isinstance(plan, PlannedPlan):
        return PlannedSchedule(plan, policy)
    return BatchSchedule(plan, policy)
