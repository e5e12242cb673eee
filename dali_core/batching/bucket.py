"""Buckets: batches of one class of lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dali_core._runtime.window_bins import classes
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
class Bucket(Weighted):
    """Batches whose samples are of one class of lengths, in their order.

    Parameters
    ----------
    edges : sequence of int, or of tuples of int, optional
        The largest length of each class, ascending: a sample is of the first class whose edge it
        does not exceed, in each kind of lengths. With tuples, classes are tried in their order.
    number : int, optional
        Number of classes instead of `edges`: about as many tokens are in each.
    batch_sizes : int or sequence of int, optional
        Samples in a batch, of all classes or of each one.
    tokens : int, optional
        Samples in a batch instead: as many as this many tokens have room for at the class's edge
        (of several kinds the first one counts), but at least one.
    group : int
        Batches of one class that stay together: with a number of processes that divides it, all
        have the same class at the same step.
    too_long : {"error", "drop", "truncate"}
        Handling of samples that exceed the last edge: an error that names the first one, left
        out and counted, or cut off.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError, ArgumentConflictError
        If a parameter is none of these, or does not fit another.
    """

    edges: tuple[tuple[int, ...], ...] | None
    number: int | None
    batch_sizes: tuple[int, ...] | None
    tokens: int | None
    group: int
    too_long: TooLong

    def __init__(
        self,
        edges: Sequence[int] | Sequence[Sequence[int]] | None = None,
        *,
        number: int | None = None,
        batch_sizes: int | Sequence[int] | None = None,
        tokens: int | None = None,
        group: int = 8,
        too_long: TooLong = "error",
    ) -> None:
        for one, other, names in (
            (edges, number, "edges or number"),
            (batch_sizes, tokens, "batch_sizes or tokens"),
        ):
            if (one is None) == (other is None):
                raise ArgumentConflictError(
                    f"Bucket: either {names} must be given (got {'none' if one is None else 'both'}"
                    ")."
                )
        checked = None if edges is None else _check_edges(edges)
        sizes = None if batch_sizes is None else check_counts(batch_sizes, "batch_sizes")
        num_classes = check_count(number, "number") if checked is None else len(checked)
        if sizes is not None and len(sizes) not in (1, num_classes):
            raise ArgumentValueError(
                f"batch_sizes: must be one number, or one for each of the {num_classes} classes "
                f"(got {len(sizes)})."
            )
        if tokens is not None:
            check_count(tokens, "tokens")
        check_policy(too_long, ("error", "drop", "truncate"), "Bucket")
        for name, value in (
            ("edges", checked),
            ("number", number),
            ("batch_sizes", sizes),
            ("tokens", tokens),
            ("group", check_count(group, "group")),
            ("too_long", too_long),
        ):
            object.__setattr__(self, name, value)

    @property
    def num_kinds(self) -> int:
        """Lengths that each sample must have."""
        return 1 if self.edges is None else len(self.edges[0])

    @property
    def bins_together(self) -> int:
        """Batches of a class that stay together."""
        return self.group

    @property
    def most_samples(self) -> int:
        """Most samples in a batch, as far as the parameters say so."""
        if self.batch_sizes is not None:
            return max(self.batch_sizes)
        return NO_LIMIT if self.edges is None else max(self.sizes())

    def prepared(self, lengths: Lengths) -> Bucket:
        """Return the rule with the edges for the lengths of a data set."""
        if self.number is None:
            return self
        found = np.sort(lengths.some()[:, 0])
        ends = np.cumsum(found)
        total = int(ends[-1]) if len(ends) else 0
        places = [total * (i + 1) // self.number for i in range(self.number)]
        edges = np.unique(np.maximum(found[np.searchsorted(ends, places)], 1)) if total else [1]
        edges = [*edges[:-1], max(edges[-1], lengths.largest())]
        sizes = self.batch_sizes
        if sizes is not None and len(sizes) > 1:
            sizes = sizes[: len(edges)]
        return Bucket(
            [int(edge) for edge in edges],
            batch_sizes=sizes,
            tokens=self.tokens,
            group=self.group,
            too_long=self.too_long,
        )

    def pieces(self, samples: Integers, lengths: Integers) -> Pieces:
        """Return the samples that fit into a class."""
        edges = self._edges()
        if edges.shape[1] == 1:
            return without_long(samples, lengths, edges[-1], self.too_long, "edges")
        is_long = ~self._fits(lengths).any(axis=1)
        return without_long(samples, lengths, edges[-1], self.too_long, "edges", is_long)

    def divide(self, lengths: Integers) -> Bins:
        """Divide samples into batches, class by class."""
        edges = self._edges()
        if edges.shape[1] == 1:
            class_of = np.searchsorted(edges[:, 0], lengths[:, 0])
        else:
            class_of = self._fits(lengths).argmax(axis=1)
        items, starts, first = classes(
            np.ascontiguousarray(class_of, np.int32), np.array(self.sizes(), np.int64)
        )
        return Bins(items, starts, first.astype(np.int64))

    def sizes(self) -> list[int]:
        """Return the samples in a batch of each class."""
        edges = self._edges()
        if self.tokens is not None:
            return [max(1, self.tokens // int(edge)) for edge in edges[:, 0]]
        assert self.batch_sizes is not None
        return list(self.batch_sizes) * (len(edges) if len(self.batch_sizes) == 1 else 1)

    def extents(self, lengths: Integers) -> Integers:
        """Return the edges of the class of a batch."""
        edges = self._edges()
        found: Integers = edges[int((self._fits(lengths).argmax(axis=1)).max(initial=0))]
        return found

    def room(self, lengths: Integers) -> int:
        """Return what a batch takes when its samples are padded to the longest of them."""
        return int(lengths.max(initial=0) * len(lengths))

    def _edges(self) -> Integers:
        assert self.edges is not None
        return np.array(self.edges, np.int64)

    def _fits(self, lengths: Integers) -> Any:
        return (lengths[:, np.newaxis, :] <= self._edges()).all(axis=2)


def _check_edges(edges: Sequence[Any]) -> tuple[tuple[int, ...], ...]:
    if not len(edges):
        raise ArgumentValueError("edges: must not be empty. Pass the largest length of each class.")
    rows = tuple(check_counts(edge, "edges") for edge in edges)
    if len({len(row) for row in rows}) > 1:
        raise ArgumentValueError(f"edges: must all have as many lengths (got {rows!r:.200}).")
    if len(rows[0]) == 1 and any(low >= high for low, high in pairwise(rows)):
        raise ArgumentValueError(f"edges: must ascend (got {[row[0] for row in rows]}).")
    return rows
