"""Samples that are read a block at a time, with decoded blocks in memory."""

from __future__ import annotations

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dali_core._readers.protocol import DataSource, Fetcher, Upcoming
from dali_core._readers.read_ahead import ReadingAhead


class Block(NamedTuple):
    """A block that was read.

    Attributes
    ----------
    fetch_many : callable
        Returns the samples at some places in it.
    num_bytes : int
        How much memory it needs.
    """

    fetch_many: Callable[[Sequence[int]], Sequence[Any]]
    num_bytes: int


class BlockSource(DataSource):
    """A data set of blocks: one can only be read, or decoded, as a whole."""

    def __len__(self) -> int:
        return sum(self.blocks)

    @property
    @abstractmethod
    def blocks(self) -> Sequence[int]:
        """The number of samples in each block."""

    @abstractmethod
    def block_name(self, block: int) -> str:
        """Return file and number of a block, for messages."""

    @abstractmethod
    def read_block(self, block: int) -> Block:
        """Read a block, in any thread; what is raised makes bad samples of all in it."""


class BlockCache(Fetcher):
    """The samples of the blocks that were used last; others are read, ahead where possible.

    Parameters
    ----------
    source : BlockSource
        The data set.
    max_cached_bytes : int
        How many bytes of it are kept. A single block may have more.
    """

    def __init__(self, source: BlockSource, max_cached_bytes: int) -> None:
        self._upcoming: Upcoming | None = None
        self._source = source
        self._blocks = source.blocks
        self._max_cached_bytes = max_cached_bytes
        self._ends = np.cumsum(self._blocks)
        self._cached: OrderedDict[int, Block] = OrderedDict()
        self._ahead = ReadingAhead(source.read_block)
        self._failed: dict[int, Exception] = {}  # of the batch

    def expect(self, upcoming: Upcoming) -> None:
        """Have blocks read ahead from now on."""
        self._upcoming = upcoming

    def fetch_many(self, indices: Sequence[int]) -> Sequence[Any]:
        """Return some samples; each block is needed once."""
        self._failed.clear()
        before = set(self._cached)
        samples = self._fetch(indices)
        if self._upcoming is not None and not before.issuperset(self._cached):
            self._plan(self._upcoming)
        return samples

    def fetch(self, index: int) -> Any:
        """Return one sample of a batch for which `fetch_many` has failed."""
        return self._fetch([index])[0]

    def _fetch(self, indices: Sequence[int]) -> list[Any]:
        blocks = np.searchsorted(self._ends, indices, side="right")
        samples: list[Any] = [None] * len(indices)
        for block in map(int, np.unique(blocks)):
            start = int(self._ends[block]) - self._blocks[block]
            places = np.flatnonzero(blocks == block).tolist()
            opened = self._opened(block)
            try:
                given = opened.fetch_many([indices[place] - start for place in places])
            except Exception as error:
                raise ValueError(f"{self._source.block_name(block)}: {error}") from error
            for place, sample in zip(places, given, strict=True):
                samples[place] = sample
        return samples

    def _opened(self, block: int) -> Block:
        if block in self._failed:
            raise self._failed[block]
        if block in self._cached:
            self._cached.move_to_end(block)
            return self._cached[block]
        try:
            self._cached[block] = self._ahead.take(block)
        except Exception as error:
            self._failed[block] = error
            raise
        while self._num_bytes > self._max_cached_bytes and len(self._cached) > 1:
            self._cached.popitem(last=False)
        return self._cached[block]

    @property
    def _num_bytes(self) -> int:
        return sum(block.num_bytes for block in self._cached.values())

    def _plan(self, upcoming: Upcoming) -> None:
        """Have the blocks read that are needed next, as far as there is memory for them."""
        num_samples = sum(self._blocks[block] for block in self._cached)
        each = max(self._num_bytes // len(self._cached), 1)
        # As many samples as there is memory for, since what is needed later does not matter yet;
        # but no more than in some blocks, since all of them are looked at: samples may be tiny.
        per_sample = max(self._num_bytes // num_samples, 1)
        most = min(_MAX_BLOCKS_AHEAD * num_samples // len(self._cached) + 1, int(self._ends[-1]))
        indices = upcoming(min(self._max_cached_bytes // per_sample + 1, most))
        blocks, first = np.unique(
            np.searchsorted(self._ends, indices, side="right"), return_index=True
        )
        needed = blocks[np.argsort(first)].tolist()
        missing = [block for block in needed if block not in self._cached]
        for block in [block for block in self._cached if block not in needed]:
            if self._num_bytes + len(missing) * each > self._max_cached_bytes:
                del self._cached[block]
        self._ahead.plan(missing[: max(self._max_cached_bytes - self._num_bytes, 0) // each])


_MAX_BLOCKS_AHEAD = 16
