"""Epochs and shards: the positions that a shard reads in each epoch.

`BatchPlan` (`dali_core.batching.plan`) divides the endless stream of these samples into batches.
No counter is advanced, so a pipeline resumes anywhere, and readers, iterators and checkpoints
cannot disagree.

Rules (N samples, S shards, batches of B)
-----------------------------------------
* Shard i holds positions ``floor(i*N/S) .. floor((i+1)*N/S) - 1`` of the epoch's order.  A reader
  moves to the next shard each epoch unless `stick_to_shard`.
* Without `pad_last_batch` epochs follow each other without a gap, and batches straddle them.
* With `pad_last_batch` every epoch of every shard takes ``ceil(ceil(N/S) / B)`` batches, so all
  shards need the same number.  What a shard lacks is filled by repeating its last sample.
* `interleaved`: the shards take turns, sample by sample, over the whole endless order.  Batch t of
  all shards together is then one contiguous piece of that order, whatever S is (for a fixed S*B).
  Padding repeats the last sample of the epoch in every shard, for the same reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from dali_core.errors import ArgumentValueError


def ceil_div(dividend: int, divisor: int) -> int:
    """Return the quotient of two integers, rounded up."""
    return -(-dividend // divisor)


class Run(NamedTuple):
    """Consecutive samples of a stream: sample i is at ``first + i * step`` of the epoch's order.

    A step of 0 marks padding, which repeats the sample at `first`.
    """

    epoch: int
    first: int
    length: int
    step: int

    @property
    def is_padding(self) -> bool:
        """Whether these samples only fill a batch."""
        return self.step == 0


@dataclass(frozen=True)
class EpochPlan:
    """Samples of one shard in each epoch.

    Parameters
    ----------
    num_samples : int
        Samples in the whole data set.
    num_shards, shard_id : int
        Number of parts, and the part that this reader starts with.
    stick_to_shard : bool
        Read the same shard in all epochs.
    pad_last_batch : bool
        Fill each epoch's last batch by repeating a sample, so that no batch straddles two epochs.
    random_shuffle : bool
        Recorded for the reader, which permutes the order; positions do not depend on it.
    interleaved : bool
        Deal the order out sample by sample instead of cutting it into contiguous ranges.
    """

    num_samples: int
    num_shards: int = 1
    shard_id: int = 0
    stick_to_shard: bool = False
    pad_last_batch: bool = False
    random_shuffle: bool = False
    interleaved: bool = False

    def __post_init__(self) -> None:
        if self.num_shards < 1:
            raise ArgumentValueError(
                f"num_shards: must be at least 1 (got {self.num_shards}). Leave it out to read "
                "everything in one process."
            )
        if not 0 <= self.shard_id < self.num_shards:
            raise ArgumentValueError(
                f"shard_id: must be from 0 to num_shards - 1 = {self.num_shards - 1} "
                f"(got {self.shard_id}). Count shards from 0."
            )
        if self.num_samples < self.num_shards:
            raise ArgumentValueError(
                f"num_shards: must not exceed the number of samples (got {self.num_shards} shards "
                f"of {self.num_samples} samples). Use fewer shards or add data."
            )
        if self.interleaved and self.stick_to_shard:
            raise ArgumentValueError(
                "stick_to_shard: must be False with interleaved shards (got True), which are no "
                "fixed part of the data. Drop one of the two."
            )

    @classmethod
    def from_meta(cls, meta: Mapping[str, int]) -> EpochPlan:
        """Rebuild the plan of a reader from what `Pipeline.reader_meta` says about it."""
        return cls(
            num_samples=meta["epoch_size"],
            num_shards=meta["number_of_shards"],
            shard_id=meta["shard_id"],
            stick_to_shard=bool(meta["stick_to_shard"]),
            pad_last_batch=bool(meta["pad_last_batch"]),
            interleaved=bool(meta.get("interleaved", False)),
        )

    def meta(self) -> dict[str, int]:
        """Describe the reader in the form of `Pipeline.reader_meta`."""
        meta = {
            "epoch_size": self.num_samples,
            "epoch_size_padded": self.num_samples_padded,
            "number_of_shards": self.num_shards,
            "shard_id": self.shard_id,
            "pad_last_batch": int(self.pad_last_batch),
            "stick_to_shard": int(self.stick_to_shard),
        }
        # Only when set: other programs compare these dictionaries with the reference's.
        return meta | {"interleaved": 1} if self.interleaved else meta

    @property
    def smallest_shard(self) -> int:
        """Samples in the smallest shard of an epoch, ``floor(N/S)``."""
        return self.num_samples // self.num_shards

    @property
    def largest_shard(self) -> int:
        """Samples in the largest shard of an epoch, ``ceil(N/S)``."""
        return ceil_div(self.num_samples, self.num_shards)

    @property
    def num_samples_padded(self) -> int:
        """Samples of an epoch with all shards padded to the size of the largest, if they are."""
        return self.largest_shard * self.num_shards if self.pad_last_batch else self.num_samples

    def shard(self, epoch: int) -> int:
        """Return the shard that is read in `epoch`."""
        moves = not self.stick_to_shard and not self.interleaved
        return (self.shard_id + epoch) % self.num_shards if moves else self.shard_id

    def shard_range(self, epoch: int) -> range:
        """Return the positions, in the order of `epoch`, of the samples that are read in it."""
        if self.interleaved:
            done = 0 if self.pad_last_batch else epoch * self.num_samples
            first = (self.shard_id - done) % self.num_shards
            return range(first, self.num_samples, self.num_shards)
        shard = self.shard(epoch)
        return range(self.shard_start(shard), self.shard_start(shard + 1))

    def shard_size(self, epoch: int) -> int:
        """Return the number of samples that are read in `epoch`, without padding."""
        return len(self.shard_range(epoch))

    def shard_start(self, shard: int) -> int:
        """Return the position in the order at which a shard begins.

        Shards past the last one continue into the next round over the shards.
        """
        return shard * self.num_samples // self.num_shards

    def divided(self, num_shards: int) -> EpochPlan:
        """Return the plan of the same data in another number of shards, for the first of these."""
        return replace(self, num_shards=num_shards, shard_id=0)
