"""Batch plans: the samples of every batch of one shard's endless stream.

A plan is a pure function of the data, the batching and the number of a batch, whose batches may
differ in size. All else asks it: the runner for samples, iterators for the batches of an epoch,
states for positions. A position counts the samples of the stream before a place, with padding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from dali_core.batching.epoch_plan import EpochPlan, Run

OF_SOURCES = EpochPlan(1)
"""Stands for samples that sources give: their epochs are not known, but sizes and positions."""


class Batching(ABC):
    """A rule that divides samples into batches, whatever data they are of.

    Batchings that divide alike are equal.
    """

    by_lengths: ClassVar[bool] = False
    """Whether batches depend on the lengths of samples, and steps count as positions."""

    @property
    @abstractmethod
    def largest(self) -> int:
        """Samples in the largest batch."""

    @abstractmethod
    def plan(self, epochs: EpochPlan = OF_SOURCES) -> BatchPlan:
        """Return the plan of a shard's batches; by default of samples that sources give."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return the entries of a saved state by which it says how samples were divided."""

    def remember(self, window: Sequence[int], position: int) -> bool:
        """Take over what `BatchPlan.known_window` returned for a position, in another process.

        Returns
        -------
        bool
            Whether it can be true.
        """
        return not window


class BatchPlan(ABC):
    """The batches of one shard's endless stream of samples.

    Parameters
    ----------
    batching : Batching
        The rule by which samples are divided.
    epochs : EpochPlan
        The samples of the shard.
    """

    def __init__(self, batching: Batching, epochs: EpochPlan) -> None:
        self.batching = batching
        self.epochs = epochs

    @abstractmethod
    def starting(self, batch: int, position: int) -> BatchPlan:
        """Return the same plan with the batch that begins at `position` numbered `batch`.

        They are not 0 and 0 after resuming from batches that were divided in another way.
        """

    @abstractmethod
    def size(self, batch: int) -> int:
        """Return the number of samples in a batch, with padding."""

    @abstractmethod
    def position(self, batch: int) -> int:
        """Return the position at which a batch begins."""

    @abstractmethod
    def find(self, position: int) -> tuple[int, int]:
        """Return the batch of a position, and how many of its samples come before.

        This is the inverse of `position`.
        """

    @abstractmethod
    def samples(self, start: int, count: int) -> list[Run]:
        """List the samples at positions ``start .. start + count - 1``, in their order."""

    def runs(self, batch: int) -> list[Run]:
        """List the samples of a batch, in their order."""
        return self.samples(self.position(batch), self.size(batch))

    @abstractmethod
    def locate(self, position: int) -> tuple[int, int]:
        """Return the epoch of a position, and how many samples of it come before."""

    @abstractmethod
    def epoch_start(self, epoch: int) -> int:
        """Return the position of the first sample of an epoch."""

    def count(self, start: int, stop: int) -> int:
        """Return the number of samples between two positions at which batches begin."""
        return stop - start

    def row_lengths(self, batch: int) -> list[int]:
        """Return the number of samples in each row of a batch: all are one, unless planned so."""
        return [self.size(batch)]

    def extents(self, batch: int) -> list[int]:
        """Return the largest lengths that samples of a batch may have, of each kind.

        There are none if batches are not planned by lengths.
        """
        return []

    def is_possible(self, position: int) -> bool:
        """Return whether batches end at a position, as far as that is not checked otherwise."""
        return True

    def known_window(self, position: int) -> list[int]:
        """Return what helps another process to find a position sooner, for a state."""
        return []

    def epoch(self, batch: int) -> int:
        """Return the epoch of the first sample of a batch."""
        return self.locate(self.position(batch))[0]

    @abstractmethod
    def num_begun(self, count: int) -> int:
        """Return the number of batches that the first `count` samples fill or begin."""

    @abstractmethod
    def num_filled(self, count: int) -> int:
        """Return the number of batches that the first `count` samples fill."""

    @abstractmethod
    def describe(self, num_epochs: int | None = None) -> str:
        """Return a table of the samples and batches of each epoch.

        Parameters
        ----------
        num_epochs : int, optional
            Number of rows; by default one round over the shards, but at most 8.
        """

    def is_like(self, other: BatchPlan) -> bool:
        """Return whether another plan divides the data into the same shards and batches."""
        same_shards = self.epochs.num_shards == other.epochs.num_shards
        return same_shards and self.batching == other.batching

    def aligned(self, other: BatchPlan, count: int) -> int | None:
        """Return how many samples a shard has when all together have as many as under another plan.

        Parameters
        ----------
        other : BatchPlan
            A plan of the same data in another number of shards.
        count : int
            Samples of each shard under that plan.

        Returns
        -------
        int or None
            None if all samples together are no equal number in each shard.
        """
        together, rest = divmod(count * other.epochs.num_shards, self.epochs.num_shards)
        return None if rest else together

    def resumed(self, other: BatchPlan, position: int) -> int | None:
        """Return the position that corresponds to one under another plan of the same data.

        What all shards together have read is a beginning of the order of the epochs, and stays the
        same set of samples. With other numbers of shards that is so for interleaved ones only.

        Returns
        -------
        int or None
            None if the samples cannot be dealt out equally, or, where each epoch is padded, if they
            are no whole batches.
        """
        if self.is_like(other):
            return position
        if not self.epochs.pad_last_batch:
            return self.aligned(other, position)
        epoch, offset = other.locate(position)
        count = self.aligned(other, offset)
        if count is None or self.find(count)[1]:
            return None
        return self.epoch_start(epoch) + count
