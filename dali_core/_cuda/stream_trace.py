"""Times of the work in a stream, by the clock of the host."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from dali_core._cuda.stream import Event, Stream

_MAX_SPANS = 1_000_000
_TRIES = 5


class DeviceSpan(NamedTuple):
    """A kernel, or a group of copies.

    Attributes
    ----------
    begin, end : int
        Nanoseconds of `time.monotonic_ns`.
    name : str
        The kernel, or the direction of the copies.
    num_bytes : int
        Size of the copies; 0 for a kernel.
    iteration : int
        Number of the batch.
    """

    begin: int
    end: int
    name: str
    num_bytes: int
    iteration: int


class StreamTrace:
    """Times what is in a stream, by timed events around each piece of work.

    It waits for what is in the stream, to find out when the clock of the host had the time of an
    event. The clocks may diverge from then on.

    Parameters
    ----------
    stream : Stream
        The stream.

    Raises
    ------
    CudaError
        If the device refuses the events.
    """

    def __init__(self, stream: Stream) -> None:
        stream.synchronize()
        # The thread may be interrupted between reading the clock and recording the event.
        tries = [self._reached(stream) for _ in range(_TRIES)]
        _, self._base_time, self._base = min(tries, key=lambda entry: entry[0])
        self._spans: list[DeviceSpan] | None = []

    @staticmethod
    def _reached(stream: Stream) -> tuple[int, int, Event]:
        before = time.monotonic_ns()
        event = stream.record_time()
        event.synchronize()
        after = time.monotonic_ns()
        return after - before, (before + after) // 2, event

    def add(self, marks: Sequence[tuple[str, int, Event]], iteration: int) -> None:
        """Add work that is done, unless the spans were taken.

        Parameters
        ----------
        marks : sequence of (str, int, Event)
            The begin, and then for each piece of work its name, its bytes, and its end.
        iteration : int
            Number of the batch.
        """
        kept = self._spans
        if kept is None:
            return
        times = [
            self._base_time + round(event.milliseconds_since(self._base) * 1e6)
            for _, _, event in marks
        ]
        spans = [
            DeviceSpan(begin, end, name, num_bytes, iteration)
            for (begin, end), (name, num_bytes, _) in zip(pairwise(times), marks[1:], strict=True)
        ]
        if len(kept) < _MAX_SPANS:
            kept += spans

    def take(self) -> list[DeviceSpan]:
        """Return all spans. No more are kept."""
        spans, self._spans = self._spans, None
        return spans or []
