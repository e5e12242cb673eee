"""The rows of Parquet files by their indices, with decoded row groups in memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dali_core._runtime.step import Step, StepContext, StepOutput
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core.arrow import ArrowSource
from dali_core.operators.readers.parquet.reading_ahead import ReadingAhead
from dali_core.operators.readers.parquet.row_groups import RowGroups
from dali_core.operators.readers.python.step import FetchingStep

_Upcoming = Callable[[int], NDArray[np.int64]]


class _Cached(NamedTuple):
    rows: ArrowSource
    num_bytes: int


class Rows:
    """The rows of Parquet files; one thread uses it.

    Parameters
    ----------
    groups : RowGroups
        The row groups.
    max_cached_bytes : int
        How many bytes of them are kept.

    Attributes
    ----------
    upcoming : callable, optional
        Returns indices that are fetched after the batch, at most so many; without it, nothing is
        read ahead.
    """

    def __init__(self, groups: RowGroups, max_cached_bytes: int) -> None:
        self.upcoming: _Upcoming | None = None
        self._groups = groups
        self._max_cached_bytes = max_cached_bytes
        self._ends = np.cumsum(groups.blocks)
        self._cached: OrderedDict[int, _Cached] = OrderedDict()
        self._ahead = ReadingAhead(groups.read)
        self._failed: dict[int, Exception] = {}  # of the batch

    def __len__(self) -> int:
        return len(self._groups)

    def fetch_many(self, indices: Sequence[int]) -> list[tuple[Any, ...]]:
        """Return some rows; each row group is needed once."""
        self._failed.clear()
        before = set(self._cached)
        rows = self._fetch(indices)
        if self.upcoming is not None and not before.issuperset(self._cached):
            self._plan(self.upcoming)
        return rows

    def fetch(self, index: int) -> tuple[Any, ...]:
        """Return one row of a batch for which `fetch_many` has failed."""
        return self._fetch([index])[0]

    def _fetch(self, indices: Sequence[int]) -> list[tuple[Any, ...]]:
        blocks = np.searchsorted(self._ends, indices, side="right")
        rows: list[Any] = [None] * len(indices)
        for block in map(int, np.unique(blocks)):
            start = int(self._ends[block]) - self._groups.blocks[block]
            places = np.flatnonzero(blocks == block).tolist()
            found = self._opened(block)
            try:
                given = found.fetch_many([indices[place] - start for place in places])
            except Exception as error:
                raise ValueError(f"{self._groups.name(block)}: {error}") from error
            for place, row in zip(places, given, strict=True):
                rows[place] = row
        return rows

    def _opened(self, block: int) -> ArrowSource:
        if block in self._failed:
            raise self._failed[block]
        if block in self._cached:
            self._cached.move_to_end(block)
            return self._cached[block].rows
        try:
            table = self._ahead.take(block)
        except Exception as error:
            self._failed[block] = error
            raise
        fields = [".".join(field.path) for field in self._groups.fields(block)]
        self._cached[block] = _Cached(ArrowSource(table, fields), table.nbytes)
        while self._num_bytes > self._max_cached_bytes and len(self._cached) > 1:
            self._cached.popitem(last=False)
        return self._cached[block].rows

    @property
    def _num_bytes(self) -> int:
        return sum(cached.num_bytes for cached in self._cached.values())

    def _plan(self, upcoming: _Upcoming) -> None:
        """Have the row groups read that are needed next, as far as there is memory for them."""
        num_rows = sum(self._groups.blocks[block] for block in self._cached)
        each = max(self._num_bytes // len(self._cached), 1)
        # As many rows as there is memory for, since what is needed later does not matter yet; but
        # no more than in some row groups, since all of them are looked at: rows may be tiny.
        per_row = max(self._num_bytes // num_rows, 1)
        most = min(_MAX_GROUPS_AHEAD * num_rows // len(self._cached) + 1, len(self))
        indices = upcoming(min(self._max_cached_bytes // per_row + 1, most))
        blocks, first = np.unique(
            np.searchsorted(self._ends, indices, side="right"), return_index=True
        )
        needed = blocks[np.argsort(first)].tolist()
        missing = [block for block in needed if block not in self._cached]
        for block in [block for block in self._cached if block not in needed]:
            if self._num_bytes + len(missing) * each > self._max_cached_bytes:
                del self._cached[block]
        self._ahead.plan(missing[: max(self._max_cached_bytes - self._num_bytes, 0) // each])


_MAX_GROUPS_AHEAD = 16


class _RowsStep(FetchingStep):
    """Fetches rows, and has those read ahead that are fetched next."""

    def __init__(self, max_cached_bytes: int, num_outputs: int) -> None:
        super().__init__({"source": None, "num_outputs": num_outputs, "parallel": False})
        self._max_cached_bytes = max_cached_bytes
        self._groups: RowGroups | None = None

    def use_source(self, source: RowGroups) -> None:
        """Read rows of these row groups."""
        if self._groups is not source:
            self._groups, self._fetching.source = source, Rows(source, self._max_cached_bytes)

    def run(self, context: StepContext, inputs: list[TensorListCPU]) -> list[StepOutput]:
        """Fetch a batch."""
        self._fetching.source.upcoming = context.upcoming
        return super().run(context, inputs)


def make_step(arguments: dict[str, Any]) -> Step:
    """Make the step that reads rows, from the checked arguments of the operator."""
    return _RowsStep(arguments["max_cached_bytes"], len(arguments["columns"]))
