"""A call that was requested, and its result."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from dali_core._runtime.workers.produced import Produced
from dali_core.errors import WorkerError

Opener = Callable[[], Produced]
"""Gives what a worker has made. Where it is in shared memory, its place is free for the next result
after the last reference to any of the samples is released."""


class Task:
    """A call that was asked for.

    `concurrent.futures.Future` would do the same, but for Ctrl-C: that may leave its lock locked.

    Parameters
    ----------
    arguments : tuple
        Of the call.
    """

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        self.arguments = arguments
        self._outcome: Opener | WorkerError | None = None
        self._arrived = threading.Lock()
        self._arrived.acquire()
        self._begun = threading.Lock()

    def begin(self) -> bool:
        """Return whether this is the first time: an interrupted program submits it once more."""
        return self._begun.acquire(blocking=False)

    def set_outcome(self, outcome: Opener | WorkerError) -> None:
        """Report the outcome; called once."""
        self._outcome = outcome
        self._arrived.release()

    def wait(self, seconds: float) -> bool:
        """Wait for the outcome, and return whether it is there."""
        if self._outcome is None:
            self._arrived.acquire(timeout=seconds)
        return self._outcome is not None

    def result(self) -> Produced:
        """Return what came of it, once it is there."""
        assert self._outcome is not None
        if isinstance(self._outcome, WorkerError):
            raise WorkerError(*self._outcome.args)
        return self._outcome()
