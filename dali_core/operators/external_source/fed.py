"""Data that a program hands over with `Pipeline.feed_input`, until a step takes it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection
from typing import Any

from dali_core._runtime.step import NotFed, StepContext

_FEED_WAIT_SECONDS = 0.1


class FedBatches:
    """Batches from `Pipeline.feed_input`, in order."""

    def __init__(self, num_outputs: int, repeat_last: bool, blocking: bool) -> None:
        self._batches: list[deque[Any]] = [deque() for _ in range(num_outputs)]
        self._arrived = threading.Condition()
        self._needed = [*range(num_outputs)]
        self._repeat_last = repeat_last
        self._blocking = blocking
        self._last: list[Any] = [None] * num_outputs
        self._lost: deque[tuple[int, int]] = deque()

    def put(self, output: int, batch: Any) -> None:
        """Add a batch of an output."""
        with self._arrived:
            self._batches[output].append(batch)
            self._arrived.notify()

    def leave_out(self, outputs: Collection[int]) -> None:
        """Not wait for some outputs, nor need them; what is fed for them is dropped in turn."""
        self._needed = [number for number in range(len(self._batches)) if number not in outputs]

    def lose(self, context: StepContext) -> None:
        """Drop what is fed for a batch that does not take it, once those before have taken theirs.

        Parameters
        ----------
        context : StepContext
            The batch, later than all for which this was called before.
        """
        with self._arrived:
            self._lost.append((context.epoch, context.iteration))

    def take(self, context: StepContext) -> tuple[Any, ...]:
        """Return the next batch of each output.

        Raises
        ------
        NotFed
            If there is none, and nobody waits for it.
        """
        with self._arrived:
            self._drop_lost(context)
            while self._blocking and not self._are_complete() and not context.is_cancelled():
                self._arrived.wait(_FEED_WAIT_SECONDS)
            for number in self._needed:
                is_known = self._repeat_last and self._last[number] is not None
                if not self._batches[number] and not is_known:
                    raise NotFed(
                        "a batch must be fed for each iteration that is started (none is left). "
                        "Call Pipeline.feed_input before each run, and prefetch_queue_depth times "
                        "before the first one."
                    )
            for number, waiting in enumerate(self._batches):
                if waiting:
                    self._last[number] = waiting.popleft()
            return tuple(self._last)

    def _are_complete(self) -> bool:
        return all(self._batches[number] for number in self._needed)

    def _drop_lost(self, context: StepContext) -> None:
        while self._lost and self._lost[0] < (context.epoch, context.iteration):
            self._lost.popleft()
            for waiting in self._batches:
                if waiting:
                    waiting.popleft()

    def restore(self, state: Any) -> None:
        """Forget what was fed: it belongs to batches that are not to come."""
        with self._arrived:
            self._lost.clear()
            for waiting in self._batches:
                waiting.clear()
            self._last = [None] * len(self._last)
