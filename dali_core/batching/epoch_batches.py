"""The bins of an epoch: batches of varying size, or rows of packed samples."""

from __future__ import annotations

import operator
import threading
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from dali_core._runtime.random import mix_seed, permutation
from dali_core.batching.bin_order import shuffled
from dali_core.batching.epoch_plan import ceil_div
from dali_core.batching.lengths import Lengths
from dali_core.batching.plan_report import PlanReport, measure
from dali_core.batching.rank_batches import RankBatches
from dali_core.batching.windows import Integers, PlannedWindow, WindowRule, check_count
from dali_core.errors import ArgumentValueError, StateMismatchError

DEFAULT_WINDOW = 16384
"""Samples that are planned together: enough to fill bins, and planned in a millisecond."""
_WINDOWS_KEPT = 3
_ORDER_SALT = 0x6F72646572  # that of readers, so that a plan is the one of a pipeline
_BIN_SALT = 0x62696E73
_ALL_BINS_SALT = 0x616C6C62696E73


class EpochOrder(NamedTuple):
    """The order in which a reader has the samples of its epochs.

    Attributes
    ----------
    num_samples : int
        Samples in an epoch, of which some may be the same.
    seed : int
        Seed of that order, and of that of the bins.
    samples : callable
        Returns the samples of an epoch, from a position in its order on: of (epoch, position,
        count).
    """

    num_samples: int
    seed: int
    samples: Callable[[int, int, int], Integers]


class EpochBatches(Sequence[Integers]):
    """The bins of an epoch, found on demand: a sequence of the samples of each one.

    `Pack.plan`, `Budget.plan` and `Bucket.plan` make it; parameters are those of `Weighted.plan`.

    Notes
    -----
    Of each window that was planned only the number of its first bin is kept, and of the last
    windows their bins. `len` plans all windows; a bin plans those before it, once.
    """

    def __init__(
        self,
        rule: WindowRule,
        lengths: ArrayLike | tuple[ArrayLike, ...] | Lengths,
        *,
        seed: int,
        epoch: int,
        shuffle: bool,
        window: int,
        repack: Literal["each_epoch", "once"],
        order: EpochOrder | None = None,
    ) -> None:
        self._lengths = lengths if isinstance(lengths, Lengths) else Lengths(lengths)
        if self._lengths.num_kinds != rule.num_kinds:
            raise ArgumentValueError(
                f"lengths: {rule!r} needs {rule.num_kinds} for each sample (got "
                f"{self._lengths.num_kinds}). Pass an array of shape (samples, {rule.num_kinds})."
            )
        if repack not in ("each_epoch", "once"):
            raise ArgumentValueError(
                f'repack: must be "each_epoch" or "once" (got {repack!r:.100}).'
            )
        self.rule = rule
        self.seed = check_count(seed, "seed", least=-1)
        self.epoch = check_count(epoch, "epoch", least=0)
        self.is_shuffled = bool(shuffle)
        self.window = check_count(window, "window")
        if self.window >= 2**31:
            raise ArgumentValueError(f"window: must be below 2**31 (got {window}).")
        self.repack = repack
        self._rule = rule.prepared(self._lengths)
        if self.is_shuffled and self.repack == "each_epoch":
            self._lengths.expect_random_reads()
        self._order = order or self._own_order()
        self._seed = self._order.seed
        self._num_windows = ceil_div(self._order.num_samples, self.window)
        self._forget()

    def _forget(self) -> None:
        # Ascending: windows, and the bins at which they begin.
        self._windows, self._starts = array("q", [0]), array("q", [0])
        self._kept: OrderedDict[int, PlannedWindow] = OrderedDict()
        self._lock = threading.RLock()

    def _own_order(self) -> EpochOrder:
        """Return the random order of all samples that readers with the same seed have."""
        seed = mix_seed(max(self.seed, 0), _ORDER_SALT)
        count = self._lengths.num_samples

        def samples(epoch: int, start: int, number: int) -> Integers:
            return permutation(count, seed, epoch, start, number)

        return EpochOrder(count, seed, samples)

    def __len__(self) -> int:
        """Return the number of bins."""
        return self._start_of(self._num_windows)

    @overload
    def __getitem__(self, number: int) -> Integers: ...
    @overload
    def __getitem__(self, number: slice) -> list[Integers]: ...
    def __getitem__(self, number: int | slice) -> Any:
        """Return the samples of a bin, in the order of the epoch.

        Returns
        -------
        array of int64
            Numbers of samples, shape (samples,); where samples are split, rows of the number of
            the sample, and where its part begins and ends, shape (parts, 3).
        """
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        parts = self.parts(number)
        return parts if self._rule.has_parts else parts[:, 0]

    def __iter__(self) -> Iterator[Integers]:
        """Iterate over the bins, without counting them first."""
        number = 0
        while True:
            try:
                yield self[number]
            except IndexError:
                return
            number += 1

    def __repr__(self) -> str:
        """Name the rule, and the data."""
        return (
            f"<{type(self).__name__} {self.rule!r}, {self._lengths.num_samples} samples, epoch "
            f"{self.epoch}, seed={self.seed}, shuffle={self.is_shuffled}, window={self.window}>"
        )

    @property
    def num_samples(self) -> int:
        """Samples in an epoch."""
        return self._order.num_samples

    def parts(self, number: int) -> Integers:
        """Return the samples of a bin, and which parts of them are in it.

        Parameters
        ----------
        number : int
            Number of the bin.

        Returns
        -------
        array of int64, shape (parts, 3)
            The sample, and where the part begins and ends.

        Raises
        ------
        IndexError
            If there is no such bin.
        """
        planned, place = self._find(self._checked(number))
        chosen, pieces = planned.members(place), planned.pieces
        samples = planned.samples[pieces.places[chosen]]
        return np.stack([samples, pieces.starts[chosen], pieces.stops[chosen]], axis=1)

    def positions(self, number: int) -> Integers:
        """Return where the samples of a bin are in the order of the epoch."""
        planned, place = self._find(self._checked(number))
        return planned.start + planned.pieces.places[planned.members(place)]

    def has(self, number: int) -> bool:
        """Return whether there is a bin of this number, without counting all of them."""
        if self.repack == "once" and self.is_shuffled:
            return number < len(self)
        return self._window_of(number) < self._num_windows

    def of_epoch(self, epoch: int) -> EpochBatches:
        """Return the plan of another epoch, which shares what the two have in common."""
        other = copy(self)
        other.epoch = check_count(epoch, "epoch", least=0)
        if self.repack == "each_epoch" and self.is_shuffled:
            other._forget()
        return other

    def known_window(self, number: int) -> tuple[int, int]:
        """Return the window of a bin, or one before it, and the number of its first bin."""
        with self._lock:
            if not (self.repack == "once" and self.is_shuffled):
                self._window_of(number)
            place = bisect_right(self._starts, number) - 1
            return self._windows[place], self._starts[place]

    def remember(self, window: int, start: int) -> bool:
        """Take over what `known_window` returned, perhaps in another process.

        Returns
        -------
        bool
            Whether a window can begin there.
        """
        # No bin is empty, and samples that are dropped are in none.
        is_possible = 0 <= window <= self._num_windows and 0 <= start <= window * self.window
        with self._lock:
            place = bisect_right(self._windows, window)
            before = self._starts[place - 1] if place else 0
            after = self._starts[place] if place < len(self._starts) else start
            if is_possible and before <= start <= after:
                self._remember(window, start)
                return True
        return False

    def tokens(self, number: int) -> int:
        """Return the sum of the lengths in a bin, of the first kind, without padding."""
        parts = self.parts(number)
        return int((parts[:, 2] - parts[:, 1]).sum())

    def extents(self, number: int) -> list[int]:
        """Return the largest lengths that samples of a bin may have: the edges of a bucket.

        Of other bins they are the largest lengths of their samples, of each kind.
        """
        planned, place = self._find(self._checked(number))
        found = self._rule.extents(planned.pieces.lengths[planned.members(place)])
        return [int(extent) for extent in found]

    def rank(
        self, rank: int, num_ranks: int, last: Literal["drop", "pad", "empty"] = "drop"
    ) -> RankBatches:
        """Return the bins of one process: of step t the bin ``t * num_ranks + rank``.

        Parameters
        ----------
        rank, num_ranks : int
            Number of the process, and how many there are.
        last : {"drop", "pad", "empty"}
            All processes have as many steps. If the bins of the last step are not enough for all,
            no process has it, or those without one get an earlier bin with weight 0, or an empty
            one.

        Returns
        -------
        RankBatches
            The bins, and their weights.
        """
        return RankBatches(self, rank, num_ranks, last)

    def report(self, num_ranks: int = 1, rows: int = 1) -> PlanReport:
        """Measure the plan: fill, padding, steps, dropped samples, balance.

        Parameters
        ----------
        num_ranks : int
            Number of processes, whose steps are compared.
        rows : int
            Bins that a process has at each step.

        Returns
        -------
        PlanReport
            Its text is a table.
        """
        windows = (self.planned(number) for number in range(self._num_windows))
        num_ranks, rows = check_count(num_ranks, "num_ranks"), check_count(rows, "rows")
        return measure(windows, self._rule, num_ranks, rows)

    def state(self, number: int) -> dict[str, Any]:
        """Return a state by which any process finds a bin again, without those before it.

        Parameters
        ----------
        number : int
            Number of the bin that comes next, up to the number of bins.
        """
        window = self._window_of(number) if number else 0
        return self._identity() | {
            "bin": number,
            "window_number": window,
            "window_start": self._start_of(window),
        }

    def restore(self, state: dict[str, Any]) -> int:
        """Return the number of the bin that a state says, and remember where its window is.

        Raises
        ------
        StateMismatchError
            If the state is of another plan: of other lengths, or with other parameters.
        """
        for name, value in self._identity().items():
            if state.get(name) != value:
                raise StateMismatchError(
                    f"state: must be of this plan, but its {name} is {state.get(name)!r:.200} "
                    f"(here {value!r:.200}). Use the same lengths and parameters."
                )
        number, window, start = (
            check_count(state.get(name), name, least=0)
            for name in ("bin", "window_number", "window_start")
        )
        if window > self._num_windows or start > number:
            raise StateMismatchError(
                f"state: bin {number} cannot be in a window that begins at {start} (window "
                f"{window} of {self._num_windows}). The state is damaged."
            )
        with self._lock:
            self._remember(window, start)
        return number

    def planned(self, window: int) -> PlannedWindow:
        """Divide a window, or return what was found before."""
        with self._lock:
            first = self._start_of(window)
            found = self._kept.get(window)
            if found is None:
                found = self._divide(window, first)
                self._kept[window] = found
                self._remember(window + 1, first + found.num_bins)
                while len(self._kept) > _WINDOWS_KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(window)
            return found

    def _identity(self) -> dict[str, Any]:
        """Return what must be equal where a state is used again."""
        return {
            "batching": self.rule.description(),
            "lengths": self._lengths.fingerprint(),
            "seed": self.seed,
            "epoch": self.epoch,
            "shuffle": self.is_shuffled,
            "window": self.window,
            "repack": self.repack,
        }

    def _checked(self, number: int) -> int:
        number = operator.index(number)
        return number + len(self) if number < 0 else number

    def _find(self, number: int) -> tuple[PlannedWindow, int]:
        """Return the window of a bin, and the place of the bin in it."""
        if number < 0:
            raise IndexError(f"bin {number} is before the first one.")
        if self.repack == "once" and self.is_shuffled:
            if number >= len(self):
                raise IndexError(f"bin {number} of {len(self)}")
            order_seed = mix_seed(self._seed, _ALL_BINS_SALT)
            number = int(permutation(len(self), order_seed, self.epoch, number, 1)[0])
        window = self._window_of(number)
        if window >= self._num_windows:
            raise IndexError(f"bin {number} of {len(self)}")
        planned = self.planned(window)
        return planned, number - planned.first

    def _window_of(self, number: int) -> int:
        """Return the window of a bin, or the number of windows if there is no such bin."""
        with self._lock:
            while True:
                place = bisect_right(self._starts, number) - 1
                window, start = self._windows[place], self._starts[place]
                if window == self._num_windows:
                    return window
                known = place + 1 < len(self._windows) and self._windows[place + 1] == window + 1
                if known:
                    return window
                if start + self.planned(window).num_bins > number:
                    return window

    def _start_of(self, window: int) -> int:
        """Return the number of the first bin of a window."""
        with self._lock:
            while True:
                place = bisect_right(self._windows, window) - 1
                if self._windows[place] == window:
                    return self._starts[place]
                self.planned(self._windows[place])

    def _remember(self, window: int, start: int) -> None:
        place = bisect_right(self._windows, window)
        if place and self._windows[place - 1] == window:
            return
        self._windows.insert(place, window)
        self._starts.insert(place, start)

    def _divide(self, window: int, first: int) -> PlannedWindow:
        start = window * self.window
        count = min(self.window, self._order.num_samples - start)
        is_order_random = self.is_shuffled and self.repack == "each_epoch"
        if is_order_random:
            samples = self._order.samples(self.epoch, start, count)
        else:
            samples = np.arange(start, start + count)
        pieces = self._rule.pieces(samples, self._lengths.of(samples))
        bins = self._rule.divide(pieces.lengths)
        if not is_order_random:
            return PlannedWindow(first, start, samples, pieces, bins)
        seed = mix_seed(self._seed, _BIN_SALT + window)
        order = shuffled(bins, seed, self.epoch, self._rule.bins_together, first)
        return PlannedWindow(first, start, samples, pieces, bins, order)
