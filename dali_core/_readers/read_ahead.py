"""Reads blocks in a thread, before they are needed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from dali_core._runtime.finalizer import Finalizer
from dali_core._runtime.thread_start import start_new_thread


class ReadingAhead:
    """Reads what is planned, one after the other, in a thread that ends when all is read.

    Parameters
    ----------
    read : callable
        Reads something by its number. It may be called by two threads at a time.
    """

    def __init__(self, read: Callable[[int], Any]) -> None:
        self._read = read
        self._work = _Work(read)
        # The thread has no reference to this object, and ends after this is finalized.
        Finalizer(self, self._work.abandon)

    def plan(self, numbers: Sequence[int]) -> None:
        """Replace the plan; what was read and is not in it is dropped."""
        self._work.plan(numbers)

    def take(self, number: int) -> Any:
        """Return what was read ahead, or read it now; raises what reading raises."""
        found = self._work.take(number)
        return self._read(number) if found is None else found.wait()


class _Result:
    """The result of a read, or its error; see `Task` for why it is no future."""

    def __init__(self) -> None:
        self._value: Any = None
        self._error: BaseException | None = None
        self._arrived = threading.Lock()
        self._arrived.acquire()

    def read(self, read: Callable[[int], Any], number: int) -> None:
        try:
            self._value = read(number)
        except BaseException as error:
            self._error = error
        finally:
            self._arrived.release()

    def wait(self) -> Any:
        """Return the value, or raise the error; called once."""
        self._arrived.acquire()
        if self._error is not None:
            raise self._error
        return self._value


class _Work:
    def __init__(self, read: Callable[[int], Any]) -> None:
        self._read = read
        self._lock = threading.Lock()
        self._planned: list[int] = []
        self._results: dict[int, _Result] = {}  # of those that were begun
        self._is_running = False
        self._is_abandoned = False

    def plan(self, numbers: Sequence[int]) -> None:
        with self._lock:
            self._results = {n: self._results[n] for n in numbers if n in self._results}
            self._planned = [number for number in numbers if number not in self._results]
            if not self._planned or self._is_running:
                return
            self._is_running = True
        try:
            # The interpreter waits for it at its end: libraries must not be interrupted by that.
            start_new_thread(self._run, "dali_core blocks", daemon=False)
        except RuntimeError:  # no more threads: everything is read when it is needed
            self._is_running = False

    def abandon(self) -> None:
        # Without the lock, which the thread that collects garbage may hold.
        self._is_abandoned = True

    def take(self, number: int) -> _Result | None:
        with self._lock:
            if number in self._planned:
                self._planned.remove(number)
            return self._results.pop(number, None)

    def _run(self) -> None:
        while True:
            with self._lock:
                is_over = self._is_abandoned or not threading.main_thread().is_alive()
                if is_over or not self._planned:
                    self._is_running = False
                    return
                number = self._planned.pop(0)
                result = self._results[number] = _Result()
            result.read(self._read, number)
            del result
