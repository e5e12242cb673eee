"""The share of one process in the bins of an epoch."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Literal, overload

from dali_core.batching.epoch_plan import ceil_div
from dali_core.batching.windows import Integers, check_count
from dali_core.errors import ArgumentValueError


class RankBatches(Sequence["Integers"]):
    """The bins of one process, as many as every other process has.

    Parameters
    ----------
    bins : sequence of array of int64
        The bins of all processes.
    rank, num_ranks : int
        Number of the process, and how many there are.
    last : {"drop", "pad", "empty"}
        Handling of a last step that has not a bin for each process.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If there is no such process or policy.
    """

    def __init__(
        self,
        bins: Sequence[Integers],
        rank: int,
        num_ranks: int,
        last: Literal["drop", "pad", "empty"] = "drop",
    ) -> None:
        self._bins = bins
        self.num_ranks = check_count(num_ranks, "num_ranks")
        self.rank = check_count(rank, "rank", least=0)
        if self.rank >= self.num_ranks:
            raise ArgumentValueError(
                f"rank: must be below num_ranks={num_ranks} (got {rank}). Count from 0."
            )
        if last not in ("drop", "pad", "empty"):
            raise ArgumentValueError(f'last: must be "drop", "pad" or "empty" (got {last!r:.100}).')
        self.last = last

    def __len__(self) -> int:
        """Return the number of steps, which is the same for all processes."""
        count = len(self._bins)
        return count // self.num_ranks if self.last == "drop" else ceil_div(count, self.num_ranks)

    @overload
    def __getitem__(self, step: int) -> Integers: ...
    @overload
    def __getitem__(self, step: slice) -> list[Integers]: ...
    def __getitem__(self, step: int | slice) -> Any:
        """Return the samples of a step."""
        if isinstance(step, slice):
            return [self[one] for one in range(*step.indices(len(self)))]
        number = self.bin(step)
        if self.weight(step):
            return self._bins[number]
        if self.last == "empty":
            return self._bins[0][:0]
        return self._bins[number % len(self._bins)]

    def bin(self, step: int) -> int:
        """Return the number of a step's bin, which is past the last one where there is none.

        Raises
        ------
        IndexError
            If there is no such step.
        """
        step = operator.index(step)
        if step < 0:
            step += len(self)
        if not 0 <= step < len(self):
            raise IndexError(f"step {step} of {len(self)}")
        return step * self.num_ranks + self.rank

    def weight(self, step: int) -> int:
        """Return 1, or 0 for a bin that only takes the place of a missing one."""
        return int(self.bin(step) < len(self._bins))

    @property
    def num_lost(self) -> int:
        """Bins of the epoch that no process gets."""
        return len(self._bins) % self.num_ranks if self.last == "drop" else 0
