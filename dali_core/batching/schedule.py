"""Batches of an iterator's epochs.

Everything follows from the epoch's number: an iterator keeps that number and how many batches it
has taken in the epoch, and asks here for the rest.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace

from dali_core.batching.epoch_plan import ceil_div
from dali_core.batching.plan import Batching, BatchPlan
from dali_core.batching.planned_step import PlannedStep


class LastBatchPolicy(enum.Enum):
    """What an iterator does when an epoch's samples do not fill its last batch."""

    FILL = 0
    """Return a full batch: padding, or the first samples of the next epoch, complete it."""
    DROP = 1
    """Leave the batch out."""
    PARTIAL = 2
    """Return only the samples of the epoch."""


_EPOCHS_KEPT = 8
"""Their first batches are asked for with every batch."""


class IncompleteEpochWarning(UserWarning):
    """An epoch of an iterator lacks samples of the data set, without a request for that."""


@dataclass(frozen=True)
class BatchSchedule:
    """The batches of one shard that are taken from its pipeline, and returned, in each epoch.

    All shards of a data set get equal numbers of batches in every epoch, so that processes that
    train together stay in step.

    Parameters
    ----------
    plan : BatchPlan
        Batches of the shard whose samples are counted.
    policy : LastBatchPolicy
        What to do with the last batch.
    """

    plan: BatchPlan
    policy: LastBatchPolicy
    _first_batches: dict[int, int] = field(default_factory=dict, init=False, compare=False)

    def first_batch(self, epoch: int) -> int:
        """Return how many batches are taken from the pipeline before `epoch` begins."""
        found = self._first_batches.get(epoch)
        if found is None:
            if len(self._first_batches) >= _EPOCHS_KEPT:
                self._first_batches.clear()
            found = self._first_batches[epoch] = self._first_batch(epoch)
        return found

    def ahead(self, epoch: int, later: int) -> int:
        """Return how many batches a pipeline gives from one epoch's first to another's."""
        return self.first_batch(later) - self.first_batch(epoch)

    def _first_batch(self, epoch: int) -> int:
        plan, data = self.plan, self.plan.epochs
        if self.policy is LastBatchPolicy.DROP:
            return epoch * plan.num_begun(data.smallest_shard)
        if self.policy is LastBatchPolicy.PARTIAL or data.pad_last_batch:
            return epoch * plan.num_begun(data.largest_shard)
        # A batch that straddles an epoch's end spares the next epoch some samples.
        # An epoch that is entirely within a batch of the one before still gets a batch.
        return max(epoch, plan.num_begun(self._most_needed(epoch)))

    def _most_needed(self, epoch: int) -> int:
        """Return how many samples come before `epoch` in the shard where they are most.

        That one decides for all: it has ceil(e*N/S) samples in e epochs if the shards take turns at
        being the largest, and e*ceil(N/S) if one always is.
        """
        data = self.plan.epochs
        if data.stick_to_shard:
            return epoch * data.largest_shard
        return ceil_div(epoch * data.num_samples, data.num_shards)

    def lead(self, epoch: int) -> int:
        """Return how many batches before `first_batch` an epoch needs if the last was left early.

        With FILL and without padding, the first samples of an epoch are in the last batch of the
        one before. If that was not taken, the epoch begins with it, in all shards.
        """
        data, plan = self.plan.epochs, self.plan
        if self.policy is not LastBatchPolicy.FILL or data.pad_last_batch:
            return 0
        fewest = (
            epoch * data.smallest_shard
            if data.stick_to_shard
            else epoch * data.num_samples // data.num_shards
        )
        return self.first_batch(epoch) - min(plan.find(fewest)[0], self.first_batch(epoch))

    def counted(self, epoch: int, taken: int) -> int:
        """Return how many samples of `epoch` were read when `taken` of its batches are.

        Where batches straddle epochs, some of these came with the epoch before.
        """
        data = self.plan.epochs
        read = self._start(epoch, taken) - self.num_before(epoch)
        if self.policy is not LastBatchPolicy.FILL or data.pad_last_batch:
            return read
        ahead = self.num_before(epoch) - self._most_needed(epoch)
        # A batch may hold whole epochs.
        return ahead % data.smallest_shard + read

    def num_before(self, epoch: int) -> int:
        """Return the number of samples in the batches before `epoch`."""
        return self._start(epoch, 0)

    def _start(self, epoch: int, index: int) -> int:
        """Return the number of samples in the batches before batch `index` of `epoch`."""
        return self.plan.position(self.first_batch(epoch) + index)

    def num_taken(self, epoch: int) -> int:
        """Return the number of batches taken from the pipeline in `epoch`."""
        return self.first_batch(epoch + 1) - self.first_batch(epoch)

    def num_given(self, epoch: int) -> int:
        """Return the number of batches returned in `epoch`: `num_taken`, less a dropped one."""
        if self.policy is LastBatchPolicy.DROP:
            return self.plan.num_filled(self.plan.epochs.smallest_shard)
        return self.num_taken(epoch)

    def has_batch(self, epoch: int, index: int) -> bool:
        """Return whether batch `index` of `epoch` is returned."""
        return index < self.num_given(epoch)

    def is_dropped(self, epoch: int, index: int) -> bool:
        """Return whether batch `index` of `epoch` is taken from the pipeline, and not returned."""
        return self.num_given(epoch) <= index < self.num_taken(epoch)

    def step(self, epoch: int, index: int) -> PlannedStep | None:
        """Describe batch `index` of `epoch`; None where samples have no lengths."""
        return None

    def num_samples(self, epoch: int, index: int) -> int:
        """Return the number of samples in batch `index` of `epoch`."""
        return self.plan.size(self.first_batch(epoch) + index)

    def sizes(self, epoch: int, index: int) -> tuple[int, ...]:
        """Return how many samples batch `index` of `epoch` may have when operators are done."""
        return (self.num_samples(epoch, index),)

    def num_valid(self, epoch: int, index: int) -> int:
        """Return how many samples of batch `index` of `epoch` are returned."""
        if self.policy is LastBatchPolicy.PARTIAL:
            return self._num_within(epoch, index, self._shard_end(epoch))
        return self.num_samples(epoch, index)

    def num_in_epoch(self, epoch: int, index: int) -> int:
        """Return how many samples of batch `index` belong to `epoch`; they come first in it.

        What else the batch holds is padding, or belongs to the next epoch.
        """
        if self.policy is not LastBatchPolicy.FILL:
            return self.num_valid(epoch, index)
        is_padded = self.plan.epochs.pad_last_batch
        end = self._shard_end(epoch) if is_padded else self.plan.epoch_start(epoch + 1)
        return self._num_within(epoch, index, end)

    def _shard_end(self, epoch: int) -> int:
        """Return the position after the samples of the shard in `epoch`."""
        return self.num_before(epoch) + self.plan.epochs.shard_size(epoch)

    def _num_within(self, epoch: int, index: int, end: int) -> int:
        """Return how many samples of batch `index` of `epoch` are before the position `end`."""
        batch = self.first_batch(epoch) + index
        return max(0, min(end - self.plan.position(batch), self.plan.size(batch)))

    def samples_given(self, epoch: int) -> tuple[int, int]:
        """Return how many samples are returned in `epoch`, and how many of these are its own."""
        start, stop = self.num_before(epoch), self._start(epoch, self.num_given(epoch))
        if self.policy is LastBatchPolicy.PARTIAL:
            stop = min(stop, self._shard_end(epoch))
        first = self.plan.epoch_start(epoch)
        end = first + self.plan.epochs.shard_size(epoch)
        return stop - start, max(0, min(stop, end) - max(start, first))

    @property
    def is_exact(self) -> bool:
        """Whether every epoch has its samples once each, but for those that DROP leaves out."""
        return self.fits if self.policy is LastBatchPolicy.FILL else not self.drifts

    @property
    def drifts(self) -> bool:
        """Whether the epochs of iterator and reader begin at different samples, but for the first.

        A cut or dropped batch takes samples of the next epoch with it, unless it is padded.
        """
        plan = self.plan
        if self.policy is LastBatchPolicy.FILL:
            return False
        if plan.epochs.pad_last_batch:
            return self.first_batch(1) != plan.num_begun(plan.epochs.largest_shard)
        return not self.fits

    @property
    def fits(self) -> bool:
        """Whether full batches of all shards are exactly an epoch."""
        plan, data = self.plan, self.plan.epochs
        filled = plan.position(plan.num_begun(data.largest_shard))
        return filled * data.num_shards == data.num_samples

    def divided(self, num_shards: int, batching: Batching) -> BatchSchedule:
        """Return the schedule of the same data with other shards and batches."""
        return replace(self, plan=batching.plan(self.plan.epochs.divided(num_shards)))

    def resumed(
        self, before: BatchSchedule, epoch: int, taken: int, *, is_fresh: bool = False
    ) -> int | None:
        """Return how many batches of `epoch` are taken, if `taken` of another schedule were.

        An epoch that `is_fresh` follows one left early, and its first batches have negative
        numbers; see `lead`.

        Returns
        -------
        int or None
            None if that is no whole number of batches, or in another epoch.
        """
        if self.plan.is_like(before.plan):
            return taken
        if self.policy is LastBatchPolicy.FILL and not self.plan.epochs.pad_last_batch:
            # Batches straddle epochs, so they are counted from the very beginning.
            count = self.plan.aligned(before.plan, before._start(epoch, taken))
            batches = self._batches_of(epoch, count)
            least = -self.lead(epoch) if is_fresh else 0
            is_in_epoch = batches is not None and least <= batches <= self.num_taken(epoch)
            return batches if is_in_epoch else None
        if taken == before.num_taken(epoch):
            return self.num_taken(epoch)
        count = self.plan.aligned(
            before.plan, before._start(epoch, taken) - before.num_before(epoch)
        )
        return self._batches_of(epoch, None if count is None else self.num_before(epoch) + count)

    def _batches_of(self, epoch: int, position: int | None) -> int | None:
        """Return how many batches of `epoch` are before a position; None if it is within one."""
        if position is None:
            return None
        batch, rest = self.plan.find(position)
        return None if rest else batch - self.first_batch(epoch)
