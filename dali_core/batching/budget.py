"""Budgets: batches of as many samples as together cost no more than a number of tokens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dali_core._runtime.window_bins import budget
from dali_core.batching.lengths import Lengths
from dali_core.batching.weighted import Weighted
from dali_core.batching.windows import (
    NO_LIMIT,
    Bins,
    Integers,
    Pieces,
    TooLong,
    check_count,
    check_policy,
    without_long,
)
from dali_core.errors import ArgumentTypeError, ArgumentValueError

Cost = float | Callable[[Integers], Integers] | None


@dataclass(frozen=True)
class Budget(Weighted):
    """Batches of like lengths, and of as many samples as a budget of tokens allows.

    The samples of a window are sorted by length (ties: in order), and cut where the next one would
    exceed the budget.

    Parameters
    ----------
    tokens : int
        Most that a batch may cost.
    padded : bool
        Whether samples are padded to the longest, so that a batch costs its number of samples
        times that; otherwise it costs the sum of their lengths.
    max_samples : int, optional
        Most samples in a batch.
    multiple_of : int
        Batches of more samples than this are cut down to a multiple; the others begin the next
        batch.
    pad_to : int
        Lengths count as the next multiple of this.
    cost : float or callable, optional
        With a number q a sample of n tokens costs ``ceil(n + n*n / q)``, as the part of attention
        that grows with the square; a function gets an array of lengths, and returns their costs as
        integers. By default a sample costs its length.
    too_long : {"error", "drop", "alone"}
        Handling of samples that exceed the budget by themselves: an error that names the first
        one, left out and counted, or a batch of their own.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If a parameter is none of these.
    """

    tokens: int
    padded: bool = True
    max_samples: int | None = None
    multiple_of: int = 1
    pad_to: int = 1
    cost: Cost = None
    too_long: TooLong = "error"

    def __post_init__(self) -> None:
        for name in ("tokens", "multiple_of", "pad_to"):
            check_count(getattr(self, name), name)
        if self.max_samples is not None:
            check_count(self.max_samples, "max_samples")
        if self.multiple_of > NO_LIMIT:
            raise ArgumentValueError(f"multiple_of: must be below 2**31 (got {self.multiple_of}).")
        if isinstance(self.cost, (int, float)) and not 0 < self.cost < float("inf"):
            raise ArgumentValueError(f"cost: must be a positive number (got {self.cost}).")
        if not (self.cost is None or callable(self.cost) or isinstance(self.cost, (int, float))):
            raise ArgumentTypeError(
                f"cost: must be a number or a function (got {self.cost!r:.100})."
            )
        check_policy(self.too_long, ("error", "drop", "alone"), "Budget")

    @property
    def num_kinds(self) -> int:
        """Lengths that each sample must have: one."""
        return 1

    @property
    def most_samples(self) -> int:
        """Most samples in a bin, as far as the parameters say so."""
        return min(self.max_samples or NO_LIMIT, NO_LIMIT)

    def prepared(self, lengths: Lengths) -> Budget:
        """Return the rule itself, which depends on no data."""
        return self

    def pieces(self, samples: Integers, lengths: Integers) -> Pieces:
        """Return the samples that fit, with what they cost."""
        costs = self._costs(lengths)
        limits = np.array([self.tokens], np.int64)
        kept = without_long(samples, costs, limits, self.too_long, "tokens")
        if kept.num_dropped:
            lengths = lengths[(costs <= limits).all(axis=1)]
        return kept._replace(stops=lengths[:, 0])

    def divide(self, lengths: Integers) -> Bins:
        """Divide samples, by what they cost, into batches."""
        most, multiple = self.most_samples, self.multiple_of
        return Bins(*budget(lengths, self.tokens, self.padded, most, multiple))

    def room(self, lengths: Integers) -> int:
        """Return what a batch of samples takes with padding, in tokens."""
        rounded = -(-lengths // self.pad_to) * self.pad_to
        return int(rounded.max(initial=0) * len(rounded) if self.padded else rounded.sum())

    def extents(self, lengths: Integers) -> Integers:
        """Return the length to which the samples of a batch are padded."""
        return -(-super().extents(lengths) // self.pad_to) * self.pad_to

    def _costs(self, lengths: Integers) -> Integers:
        rounded = -(-lengths // self.pad_to) * self.pad_to
        if self.cost is None:
            return rounded
        if not callable(self.cost):
            exact = rounded + rounded.astype(np.float64) ** 2 / self.cost
            return np.ceil(np.minimum(exact, 2.0**62)).astype(np.int64)
        costs = np.asarray(self.cost(rounded[:, 0]))
        if costs.shape != rounded[:, 0].shape or costs.dtype.kind not in "iu" or costs.min() < 0:
            raise ArgumentValueError(
                f"cost: must return an integer from 0 on for each of {len(rounded)} lengths (got "
                f"{costs.dtype} of shape {costs.shape}). Round up."
            )
        return np.ascontiguousarray(costs[:, np.newaxis], np.int64)
