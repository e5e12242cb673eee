"""The batches of a running pipeline: their samples, and their places in its epochs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dali_core._graph.node import OperatorNode
from dali_core._readers.order import IndexSampler
from dali_core._runtime.executor_config import ReaderRun
from dali_core.batching.plan import Batching
from dali_core.checkpoint.position import START, Position
from dali_core.checkpoint.state import State


class BatchStream:
    """Asks the batch plans of all readers, and counts how often the pipeline was reset.

    Parameters
    ----------
    batching : Batching
        The rule by which samples are divided into batches.
    readers : dict of OperatorNode to IndexSampler
        The readers, the one that numbers the samples first.

    Attributes
    ----------
    largest : int
        Samples in the largest batch.
    plan : BatchPlan
        The sizes and positions of batches: the plan of the first reader, if there is one.
    epoch : int
        How often the pipeline was reset.
    epoch_start : Position
        Where it was reset last.
    """

    def __init__(self, batching: Batching, readers: Mapping[OperatorNode, IndexSampler]) -> None:
        self.largest = batching.largest
        self.epoch = 0
        self.epoch_start = START
        self._readers = {
            node: (reader, batching.plan(reader.stream)) for node, reader in readers.items()
        }
        found = next((plan for _, plan in self._readers.values()), None)
        self.plan = batching.plan() if found is None else found

    def runs(self, batch: int, *, with_shards: bool) -> list[list[ReaderRun]]:
        """Return the samples of a batch for each reader; see `IndexSampler.runs`."""
        # A sample of like length takes the place of a bad one: one of the same batch.
        with_shards = with_shards and not self.plan.batching.by_lengths
        return [
            reader.runs(plan.runs(batch), with_shards=with_shards)
            for reader, plan in self._readers.values()
        ]

    def keys(self, batch: int) -> list[tuple[int, int]]:
        """Return epoch and place in its order of each sample of a batch that readers give."""
        return [
            (run.epoch, run.first + number * run.step)
            for run in self.plan.runs(batch)
            for number in range(run.length)
        ]

    def upcoming(self, node: OperatorNode | None, batch: int, count: int) -> NDArray[np.int64]:
        """Return indices that a reader gives from a batch on, as far as they are known."""
        if node not in self._readers:
            return np.empty(0, np.int64)
        reader, plan = self._readers[node]
        return reader.upcoming(plan.samples(plan.position(batch), count))

    def row_lengths(self, batch: int) -> list[int]:
        """Return the number of samples in each row of a batch, where rows are packed."""
        return self.plan.row_lengths(batch)

    def extents(self, batch: int) -> list[int]:
        """Return the largest lengths of a batch that is planned by lengths, of each kind."""
        return self.plan.extents(batch)

    def at(self, batch: int, given: int) -> Position:
        """Return the position before a batch, until which sources have given so many samples."""
        return Position(batch, self.plan.position(batch), given)

    def in_epoch(self, batch: int) -> tuple[int, int]:
        """Return how many batches and samples of the epoch come before a batch."""
        start = self.epoch_start
        num_samples = self.plan.count(start.sample, self.plan.position(batch))
        return batch - start.batch, num_samples

    def begin_epoch(self, batch: int, given: int) -> None:
        """Begin the next epoch with a batch, before which sources have given so many samples."""
        self.epoch += 1
        self.epoch_start = self.at(batch, given)

    def restore(self, state: State) -> None:
        """Resume from a state, which may have been reached with other batches."""
        self.epoch = state.epoch
        self.epoch_start = state.epoch_start
        batch, position, _ = state.position
        self._readers = {
            node: (reader, plan.starting(batch, position))
            for node, (reader, plan) in self._readers.items()
        }
        self.plan = self.plan.starting(batch, position)
