"""Packing: several samples in one row of a fixed capacity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dali_core._runtime.window_bins import best_fit, next_fit
from dali_core.batching.lengths import Lengths
from dali_core.batching.weighted import Weighted
from dali_core.batching.windows import (
    NO_LIMIT,
    Bins,
    Integers,
    Pieces,
    TooLong,
    check_count,
    check_counts,
    check_policy,
    without_long,
)
from dali_core.errors import ArgumentConflictError, ArgumentValueError


@dataclass(frozen=True, init=False)
class Pack(Weighted):
    """Rows of samples whose lengths add up to at most a capacity.

    Parameters
    ----------
    capacity : int or sequence of int
        What a row holds; with several kinds of lengths (tokens and images), of each kind.
    algorithm : {"best_fit", "next_fit", "split"}
        ``"best_fit"``: by descending length (ties: in order), each sample into the fullest row in
        which it fits (ties: the row that was begun first), or into a new one. With several kinds
        the first one orders, and all must fit. ``"next_fit"``: in order; a row is closed when the
        next sample does not fit. ``"split"``: samples in order, one after the other, cut wherever a
        row is full: only the last row of a window is not.
    max_samples : int, optional
        Most samples, or parts of samples, in a row.
    too_long : {"error", "drop", "truncate", "split"}
        Handling of samples that are longer than a row: an error that names the first one, left
        out and counted, cut off, or cut into parts that are packed like samples.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError, ArgumentConflictError
        If a parameter is none of these, or does not fit another.
    """

    capacity: int | tuple[int, ...]
    algorithm: Literal["best_fit", "next_fit", "split"] = "best_fit"
    max_samples: int | None = None
    too_long: TooLong = "error"

    def __init__(
        self,
        capacity: int | Sequence[int],
        algorithm: Literal["best_fit", "next_fit", "split"] = "best_fit",
        max_samples: int | None = None,
        too_long: TooLong = "error",
    ) -> None:
        capacities = check_counts(capacity, "capacity")
        if algorithm not in ("best_fit", "next_fit", "split"):
            raise ArgumentValueError(
                f'algorithm: must be "best_fit", "next_fit" or "split" (got {algorithm!r:.100}).'
            )
        check_policy(too_long, ("error", "drop", "truncate", "split"), "Pack")
        if len(capacities) > 1 and "split" in (algorithm, too_long):
            raise ArgumentConflictError(
                f"capacity: must be one number where samples are split (got {capacities}). "
                "Pass another algorithm or policy."
            )
        if max_samples is not None:
            max_samples = min(check_count(max_samples, "max_samples"), NO_LIMIT)
        for name, value in (
            ("capacity", capacities[0] if len(capacities) == 1 else capacities),
            ("algorithm", algorithm),
            ("max_samples", max_samples),
            ("too_long", too_long),
        ):
            object.__setattr__(self, name, value)

    @property
    def num_kinds(self) -> int:
        """Lengths that each sample must have."""
        return len(self._capacities)

    @property
    def has_parts(self) -> bool:
        """Whether rows may have parts of samples."""
        return "split" in (self.algorithm, self.too_long)

    @property
    def most_samples(self) -> int:
        """Most samples in a bin, as far as the parameters say so."""
        return self.max_samples or NO_LIMIT

    def prepared(self, lengths: Lengths) -> Pack:
        """Return the rule itself, which depends on no data."""
        return self

    def pieces(self, samples: Integers, lengths: Integers) -> Pieces:
        """Return what is packed: samples, or parts of those that are split."""
        if self.algorithm == "split":
            return self._cut(lengths[:, 0])
        return without_long(samples, lengths, self._capacities, self.too_long, "capacity")

    def divide(self, lengths: Integers) -> Bins:
        """Pack pieces into rows."""
        pack = best_fit if self.algorithm == "best_fit" else next_fit
        return Bins(*pack(lengths, self._capacities, self.max_samples or NO_LIMIT))

    def room(self, lengths: Integers) -> int:
        """Return the capacity of a row."""
        return int(self._capacities[0])

    def shape(self, lengths: Integers) -> tuple[int, ...]:
        """Return the shape of a row, which all have."""
        return tuple(self._capacities.tolist())

    @property
    def _capacities(self) -> Integers:
        return np.array(check_counts(self.capacity, "capacity"), np.int64)

    def _cut(self, lengths: Integers) -> Pieces:
        """Cut samples that follow one another wherever a row is full."""
        capacity = int(self._capacities[0])
        if self.max_samples is None:
            ends = np.cumsum(lengths)
            total = int(ends[-1]) if len(ends) else 0
            # Zero-length samples are pieces of their own, at the place of the one before.
            cuts = np.union1d(ends, np.arange(capacity, total, capacity))
            cuts = cuts[cuts > 0]
            begins = np.concatenate([[0], cuts[:-1]]) if len(cuts) else cuts
            owner = np.searchsorted(ends, begins, side="right")
            before = ends[owner] - lengths[owner]
            parts = np.stack([owner, begins - before, cuts - before])
            empty = np.flatnonzero(lengths == 0)
            if len(empty):
                parts = np.hstack([parts, np.stack([empty, 0 * empty, 0 * empty])])
                parts = parts[:, np.lexsort((parts[1], parts[0]))]
        else:
            parts = np.array(self._cut_by_count(lengths, capacity), np.int64).reshape(-1, 3).T
        places, starts, stops = parts
        return Pieces(places, starts, stops, np.ascontiguousarray((stops - starts)[:, None]))

    def _cut_by_count(self, lengths: Integers, capacity: int) -> list[tuple[int, int, int]]:
        """Cut also where a row has as many parts as it may have."""
        assert self.max_samples is not None
        parts: list[tuple[int, int, int]] = []
        room, count = capacity, 0
        for owner, length in enumerate(lengths.tolist()):
            start = 0
            while True:
                if count == self.max_samples or (room == 0 and start < length):
                    room, count = capacity, 0
                stop = min(length, start + room)
                parts.append((owner, start, stop))
                room -= stop - start
                count += 1
                start = stop
                if start == length:
                    break
        return parts
