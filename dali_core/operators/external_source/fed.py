"""Data that a program hands over with `Pipeline.feed_input`, until a step takes it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection
from typing import Any

from dali_core._runtime.step import NotFed, StepContext
from dali_core._runtime.turn import Queues

_FEED_WAIT_SECONDS = 0.1


class FedBatches:
    """Batches from `Pipeline.feed_input`, in order."""

    def __init__(self, num_outputs: int, repeat_last: bool, blocking: bool) -> None:
        self._batches = Queues(num_outputs)
        # No Condition: an interrupt in it, which is code in Python, may leave its lock locked.
        self._lock = threading.Lock()
        self._needed: Collection[int] = range(num_outputs)
        self._repeat_last = repeat_last
        self._blocking = blocking
        self._last: list[Any] = [None] * num_outputs
        self._lost: deque[tuple[int, int]] = deque()
        self._given: tuple[int, int] | None = None  # the batch that `_last` is for

    def put(self, output: int, batch: Any) -> None:
        """Add a batch of an output: an assignment, so an interrupt before it feeds nothing."""
        self._batches[output] = batch

    def discard(self) -> None:
        """Drop all that was fed."""
        with self._lock:
            self._given = None
            self._batches.clear()

    def leave_out(self, outputs: Collection[int]) -> None:
        """Not wait for some outputs, nor need them; what is fed for them is dropped in turn."""
        self._needed = [number for number in range(len(self._last)) if number not in outputs]

    def lose(self, context: StepContext) -> None:
        """Drop what is fed for a batch that does not take it, once those before have taken theirs.

        Parameters
        ----------
        context : StepContext
            The batch, later than all for which this was called before.
        """
        with self._lock:
            if (context.epoch, context.iteration) in self._lost:  # an interrupted call
                return
            self._lost.append((context.epoch, context.iteration))

    def take(self, context: StepContext) -> tuple[Any, ...]:
        """Return the next batch of each output.

        Raises
        ------
        NotFed
            If there is none, and the call does not block or the batch is cancelled.
        """
        key = context.epoch, context.iteration
        while True:
            with self._lock:
                if self._given != key:
                    self._drop_lost(context)
                    firsts = self._batches.firsts()
                    is_complete = all(firsts[number] is not None for number in self._needed)
                    if is_complete or not self._blocking or context.is_cancelled():
                        self._take_next(key, firsts)
                if self._given == key:
                    return tuple(self._last)
            self._batches.wait(_FEED_WAIT_SECONDS)

    def _take_next(self, key: tuple[int, int], firsts: list[Any]) -> None:
        for number in self._needed:
            is_known = self._repeat_last and self._last[number] is not None
            if firsts[number] is None and not is_known:
                raise NotFed(
                    "a batch must be fed for each iteration that is started (none is left). "
                    "Call Pipeline.feed_input before each run, and prefetch_queue_depth times "
                    "before the first one."
                )
        taken = [
            last if first is None else first for first, last in zip(firsts, self._last, strict=True)
        ]
        # Assignments, without a call in between: an interrupted call can be repeated.
        del self._batches[:]
        self._last = taken
        self._given = key

    def _drop_lost(self, context: StepContext) -> None:
        while self._lost and self._lost[0] < (context.epoch, context.iteration):
            del self._batches[:]
            del self._lost[0]

    def restore(self, state: Any) -> None:
        """Discard the data that was fed: it belongs to batches that will not be computed."""
        with self._lock:
            self._lost.clear()
            self._batches.clear()
            self._last = [None] * len(self._last)
            self._given = None
