"""Positions at which a shard resumes with another batch size or number of shards."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dali_core._runtime.epoch_plan import EpochPlan

MAX_TRIED = 2**14
"""How many batch sizes are tried to name those that work."""


@dataclass(frozen=True)
class ShardLayout:
    """How samples are divided: into how many shards, and into batches of how many."""

    num_shards: int
    batch_size: int

    @property
    def global_batch_size(self) -> int:
        """Samples in a batch of all shards together."""
        return self.num_shards * self.batch_size


def resumed_position(
    plan: EpochPlan, position: int, before: ShardLayout, now: ShardLayout
) -> int | None:
    """Return the place in a shard's stream that corresponds to one under another layout of shards.

    What all shards together have read is a beginning of the order of the epochs; it stays the same
    set of samples. With other numbers of shards that is so for interleaved ones only.

    Parameters
    ----------
    plan : EpochPlan
        How the data is read; the number of shards in it is not looked at.
    position : int
        Samples that each shard had given, or had been padded with.
    before, now : ShardLayout
        The layout when that was so, and the new one.

    Returns
    -------
    int or None
        The samples that each shard has given under the new layout; None if the samples cannot be
        dealt out equally, or, where each epoch is padded, if they are no whole batches.
    """
    if before == now:
        return position
    if not plan.pad_last_batch:
        together, rest = divmod(position * before.num_shards, now.num_shards)
        return together if rest == 0 else None
    old_plan = replace(plan, num_shards=before.num_shards, shard_id=0)
    new_plan = replace(plan, num_shards=now.num_shards, shard_id=0)
    epoch, offset = divmod(position, old_plan.num_batches(before.batch_size) * before.batch_size)
    batches, rest = divmod(offset * before.num_shards, now.global_batch_size)
    if rest:
        return None
    return (epoch * new_plan.num_batches(now.batch_size) + batches) * now.batch_size


def batch_sizes_that_work(
    plan: EpochPlan, position: int, before: ShardLayout, num_shards: int, wanted: int
) -> list[int]:
    """List some batch sizes, those nearest to `wanted`, with which a shard can resume."""
    candidates = range(1, min(2 * max(wanted, before.global_batch_size), MAX_TRIED) + 1)
    working = [
        size
        for size in candidates
        if resumed_position(plan, position, before, ShardLayout(num_shards, size)) is not None
    ]
    return sorted(sorted(working, key=lambda size: abs(size - wanted))[:_MAX_LISTED])


_MAX_LISTED = 8
