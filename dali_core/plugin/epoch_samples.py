"""Samples of an epoch that are given, and those that are missing or not of it."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from dali_core.batching.schedule import BatchSchedule, LastBatchPolicy


class EpochSamples(NamedTuple):
    """Numbers of samples that all shards together give in an epoch.

    Attributes
    ----------
    given : int
        All of them.
    own : int
        Those of the epoch, each counted once; the others are padding, or of other epochs.
    total : int
        Samples of the data set.
    """

    given: int
    own: int
    total: int

    @property
    def others(self) -> int:
        """Number of samples that repeat one of the epoch, or are of another epoch."""
        return self.given - self.own

    @property
    def missing(self) -> int:
        """Number of samples of the data set that are not given."""
        return self.total - self.own

    def __str__(self) -> str:
        others = f" and {self.others} others" if self.others else ""
        return f"{self.own} of {self.total} samples{others}"


def count_samples(schedule: BatchSchedule, epoch: int) -> EpochSamples:
    """Count what the shards of a data set give in an epoch.

    Parameters
    ----------
    schedule : BatchSchedule
        The batches of one of the shards.
    epoch : int
        Number of the epoch.
    """
    plan = schedule.plan
    given = own = 0
    for shard in range(plan.epochs.num_shards):
        shard_plan = plan.batching.plan(replace(plan.epochs, shard_id=shard))
        counts = replace(schedule, plan=shard_plan).samples_given(epoch)
        given += counts[0]
        own += counts[1]
    return EpochSamples(given, own, plan.epochs.num_samples)


def num_dropped(schedule: BatchSchedule) -> int:
    """Return how many samples of an epoch the policy leaves out: those that fill no batch."""
    data, plan = schedule.plan.epochs, schedule.plan
    if schedule.policy is not LastBatchPolicy.DROP:
        return 0
    filled = plan.position(plan.num_filled(data.smallest_shard))
    return data.num_samples - data.num_shards * filled
