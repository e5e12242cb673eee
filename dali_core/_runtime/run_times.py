"""Times of the parts of a run: sums over threads, in nanoseconds."""

from __future__ import annotations

from typing import NamedTuple

_FIRST_POWER, _CLASSES_PER_POWER = 6, 8


class OperatorTimes(NamedTuple):
    """What threads have done in one operator, or in one chain of operators that ran as one.

    `durations` counts calls in classes, eight to each power of two of nanoseconds from 64 ns on.
    """

    calls: int
    samples: int
    nanoseconds: int
    processor_nanoseconds: int
    bytes_in: int
    bytes_out: int
    durations: list[int]

    def since(self, earlier: OperatorTimes) -> OperatorTimes:
        """Return what was done after an earlier time."""
        pairs = zip(self.durations, earlier.durations, strict=True)
        return OperatorTimes(
            self.calls - earlier.calls,
            self.samples - earlier.samples,
            self.nanoseconds - earlier.nanoseconds,
            self.processor_nanoseconds - earlier.processor_nanoseconds,
            self.bytes_in - earlier.bytes_in,
            self.bytes_out - earlier.bytes_out,
            [now - then for now, then in pairs],
        )

    def percentile(self, share: float) -> float:
        """Return the duration in seconds that a share of the calls did not exceed, to 5 %."""
        wanted, seen = share * self.calls, 0
        for index, count in enumerate(self.durations):
            seen += count
            if count and seen >= wanted:
                return _middle(index) * 1e-9
        return 0.0


class Waits(NamedTuple):
    """How long compute threads waited: for whom."""

    consumer: int
    steps: int
    others: int
    files: int


class RunTimes(NamedTuple):
    """What all threads of an executor have done, by slots: numbers of nodes, then of chains."""

    now: int
    compute: list[OperatorTimes]
    ahead: list[OperatorTimes]
    steps: list[OperatorTimes]
    waits: Waits

    def since(self, earlier: RunTimes) -> RunTimes:
        """Return what was done after an earlier time; `now` becomes the time in between."""

        def rest(now: list[OperatorTimes], then: list[OperatorTimes]) -> list[OperatorTimes]:
            return [new.since(old) for new, old in zip(now, then, strict=True)]

        return RunTimes(
            self.now - earlier.now,
            rest(self.compute, earlier.compute),
            rest(self.ahead, earlier.ahead),
            rest(self.steps, earlier.steps),
            Waits(*(new - old for new, old in zip(self.waits, earlier.waits, strict=True))),
        )

    def without(self, pauses: RunTimes) -> RunTimes:
        """Return the same without the time in pauses, and the waits in it."""
        waits = (all_ - part for all_, part in zip(self.waits, pauses.waits, strict=True))
        return self._replace(now=self.now - pauses.now, waits=Waits(*waits))


def _middle(index: int) -> float:
    """Return the geometric middle of a class of durations, in nanoseconds."""
    if index == 0:
        return float(1 << (_FIRST_POWER - 1))
    power, step = divmod(index - 1, _CLASSES_PER_POWER)
    low = float(1 << (power + _FIRST_POWER)) * (1 + step / _CLASSES_PER_POWER)
    high = float(1 << (power + _FIRST_POWER)) * (1 + (step + 1) / _CLASSES_PER_POWER)
    return float((low * high) ** 0.5)
