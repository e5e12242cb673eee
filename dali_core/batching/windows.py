"""Windows of an epoch's order, and the rules by which their samples are divided into bins.

A window is planned alone: it depends on the lengths of its samples, and on nothing that comes
before it. So any bin is found without the bins before it, in every process.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dali_core.batching.lengths import Lengths
from dali_core.errors import ArgumentTypeError, ArgumentValueError

NO_LIMIT = 2**31 - 1
"""Samples in a bin, where there is no other limit."""

Integers = NDArray[np.int64]
TooLong = Literal["error", "drop", "truncate", "split", "alone"]


class Pieces(NamedTuple):
    """What a window divides into bins: whole samples, or parts of them.

    Attributes
    ----------
    places : array of int64, shape (pieces,)
        Place of the sample in the window.
    starts, stops : array of int64, shape (pieces,)
        The part of its length that this is.
    lengths : array of int64, shape (pieces, kinds)
        What it takes of a bin's capacity.
    num_dropped : int
        Samples that are left out since they are too long.
    """

    places: Integers
    starts: Integers
    stops: Integers
    lengths: Integers
    num_dropped: int = 0


class Bins(NamedTuple):
    """The bins of a window.

    Attributes
    ----------
    pieces : array of int64, shape (pieces,)
        Numbers of the pieces of each bin, one bin after the other.
    starts : array of int64, shape (bins + 1,)
        Where each bin begins in `pieces`, and where the last one ends.
    groups : array of int64, shape (groups + 1,), optional
        The first bin of each class: bins of a class stay together.
    """

    pieces: Integers
    starts: Integers
    groups: Integers | None = None


class PlannedWindow(NamedTuple):
    """A window that was divided.

    Attributes
    ----------
    first : int
        Number of its first bin in the epoch.
    start : int
        Where its samples begin in the order of the epoch.
    samples : array of int64, shape (samples,)
        Its samples, in the order of the epoch.
    pieces : Pieces
        What is in the bins: samples, or parts of them.
    bins : Bins
        Its bins, in the order in which they were made.
    order : array of int64, shape (bins,), optional
        Their order in the epoch, if it is another one.
    """

    first: int
    start: int
    samples: Integers
    pieces: Pieces
    bins: Bins
    order: Integers | None = None

    @property
    def num_bins(self) -> int:
        """How many bins it has."""
        return len(self.bins.starts) - 1

    def members(self, place: int) -> Integers:
        """Return the pieces of a bin, by its place in the order of the epoch."""
        number = place if self.order is None else self.order[place]
        return self.bins.pieces[self.bins.starts[number] : self.bins.starts[number + 1]]


@dataclass(frozen=True)
class WindowRule:
    """How the samples of a window become bins. Rules with equal parameters are equal."""

    @property
    @abstractmethod
    def num_kinds(self) -> int:
        """Lengths that each sample must have."""

    @property
    def has_parts(self) -> bool:
        """Whether bins may have parts of samples."""
        return False

    @property
    def most_samples(self) -> int:
        """Most samples in a bin, as far as the parameters say so."""
        return NO_LIMIT

    @property
    def bins_together(self) -> int:
        """Bins of a class that stay together, where bins have classes."""
        return 1

    def description(self) -> str:
        """Return a text that equal rules have in common, in all processes."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        texts = [
            f"{name}={getattr(value, '__qualname__', None) or repr(value)}"
            for name, value in values.items()
        ]
        return f"{type(self).__name__}({', '.join(texts)})"

    @abstractmethod
    def prepared(self, lengths: Lengths) -> WindowRule:
        """Return the rule for a data set, with all that depends on it."""

    @abstractmethod
    def pieces(self, samples: Integers, lengths: Integers) -> Pieces:
        """Return what is divided, of samples with lengths of shape (samples, kinds)."""

    @abstractmethod
    def divide(self, lengths: Integers) -> Bins:
        """Divide pieces with lengths of shape (pieces, kinds) into bins."""

    def extents(self, lengths: Integers) -> Integers:
        """Return the largest lengths that pieces of a bin may have, of each kind."""
        found: Integers = lengths.max(axis=0, initial=0)
        return found

    def shape(self, lengths: Integers) -> tuple[int, ...]:
        """Return the shape of a bin when its pieces are padded: pieces, and their extents."""
        return (len(lengths), *self.extents(lengths).tolist())

    @abstractmethod
    def room(self, lengths: Integers) -> int:
        """Return what a bin of pieces takes, padding included, in the unit of the first kind."""


def whole(places: Integers, lengths: Integers, num_dropped: int = 0) -> Pieces:
    """Return whole samples as pieces."""
    return Pieces(places, np.zeros_like(places), lengths[:, 0], lengths, num_dropped)


def without_long(
    samples: Integers,
    lengths: Integers,
    limits: Integers,
    policy: TooLong,
    name: str,
    is_long: NDArray[np.bool_] | None = None,
) -> Pieces:
    """Apply the policy for samples that exceed a limit.

    Parameters
    ----------
    samples, lengths : array of int64, shapes (samples,) and (samples, kinds)
        Of a window.
    limits : array of int64, shape (kinds,)
        The largest lengths.
    policy : {"error", "drop", "truncate", "split", "alone"}
        Handling of those that exceed them.
    name : str
        Name of the parameter, for messages.
    is_long : array of bool, shape (samples,), optional
        Which samples exceed them; by default those of which a length does.

    Raises
    ------
    ArgumentValueError
        With the policy "error"; it names the sample.
    """
    long = np.any(lengths > limits, axis=1) if is_long is None else is_long
    places = np.arange(len(samples))
    if policy == "alone" or not long.any():
        return whole(places, lengths)
    if policy == "drop":
        return whole(places[~long], lengths[~long], int(long.sum()))
    if policy == "truncate":
        return whole(places, np.where(long[:, None], np.minimum(lengths, limits), lengths))
    if policy == "split":
        return split_long(lengths[:, 0], int(limits[0]))
    row = int(np.flatnonzero(long)[0])
    found = lengths[row].tolist()
    raise ArgumentValueError(
        f"{name}: every sample must fit (sample {samples[row]} has length "
        f"{found[0] if len(found) == 1 else found}, and {name} is "
        f"{int(limits[0]) if len(limits) == 1 else limits.tolist()}). Raise it, or pass "
        'too_long="drop" or another policy.'
    )


def split_long(lengths: Integers, limit: int) -> Pieces:
    """Cut samples that are longer than a limit into parts of that length, and a rest."""
    counts = np.maximum(1, -(-lengths // limit))
    places = np.repeat(np.arange(len(lengths)), counts)
    number = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
    starts = number * limit
    stops = np.minimum(starts + limit, lengths[places])
    return Pieces(places, starts, stops, np.ascontiguousarray((stops - starts)[:, None]))


def check_policy(policy: str, allowed: tuple[str, ...], name: str) -> None:
    """Raise unless a policy for samples that are too long is one of a rule's."""
    if policy not in allowed:
        raise ArgumentValueError(
            f"{name}: too_long must be one of {', '.join(map(repr, allowed))} (got {policy!r})."
        )


def check_count(value: object, name: str, least: int = 1) -> int:
    """Return an integer, or raise if it is none or below `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ArgumentTypeError(f"{name}: must be an integer (got {value!r:.100}).")
    if not least <= value < 2**62:
        raise ArgumentValueError(f"{name}: must be from {least} to 2**62 - 1 (got {value}).")
    return int(value)


def check_counts(values: ArrayLike, name: str) -> tuple[int, ...]:
    """Return integers from 1 on, of a number or a sequence of numbers."""
    given = list(values) if isinstance(values, (tuple, list, np.ndarray)) else [values]
    if not given:
        raise ArgumentValueError(f"{name}: must not be empty. Pass an integer, or several.")
    return tuple(check_count(value, name) for value in given)
