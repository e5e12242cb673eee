"""Starts threads without interruption by signals."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def start_thread(thread: threading.Thread) -> None:
    """Start a thread where no handler of a signal runs.

    Python waits for the new thread with a lock. If a handler raises an exception at that time, as
    that of Ctrl-C does, the lock may stay locked, and the new thread blocks indefinitely.
    Handlers run in the main thread only, so another one starts it. The main thread may be
    interrupted while it waits for that; the thread starts all the same.

    Raises
    ------
    RuntimeError
        If the system has no thread left.
    """
    if threading.current_thread() is not threading.main_thread():
        thread.start()
        return
    _wait_for(thread.start)


def start_new_thread(function: Callable[[], object], name: str, *, daemon: bool) -> None:
    """Have a thread call a function, of which the caller keeps nothing.

    The standard library runs code when a thread is garbage, in which Ctrl-C would be lost. So the
    main thread never has it.

    Raises
    ------
    RuntimeError
        If the system has no thread left.
    """
    _wait_for(lambda: threading.Thread(target=function, name=name, daemon=daemon).start())


def map_in_threads(
    function: Callable[[T], R],
    items: Sequence[T],
    num_threads: int,
    finish: Callable[[], object] | None = None,
) -> Iterator[R]:
    """Call a function for each item, and yield the results in order.

    The pool of threads is made, and is garbage, in another thread: the standard library runs code
    then in which Ctrl-C would be lost.

    Parameters
    ----------
    function : callable
        Called in the threads.
    items : sequence
        What it is called with.
    num_threads : int
        How many threads there are at most.
    finish : callable, optional
        Called at the end, also if there is an error, or if the rest is discarded.
    """
    results: SimpleQueue[tuple[R] | BaseException] = SimpleQueue()
    unwanted: list[bool] = []

    def call_all() -> None:
        from concurrent.futures import ThreadPoolExecutor

        try:
            try:
                with ThreadPoolExecutor(num_threads) as pool:
                    for result in pool.map(function, items):
                        results.put((result,))
                        if unwanted:
                            pool.shutdown(cancel_futures=True)
                            return
            finally:
                if finish is not None:
                    finish()
        except BaseException as error:
            results.put(error)

    _start_unregistered(call_all)
    try:
        for _ in items:
            result = results.get()
            if isinstance(result, BaseException):
                raise result
            yield result[0]
    finally:
        unwanted.append(True)


def _wait_for(start: Callable[[], object]) -> None:
    failures: list[BaseException] = []
    is_done = _thread.allocate_lock()
    is_done.acquire()

    def call() -> None:
        try:
            start()
        except BaseException as error:
            failures.append(error)
        finally:
            is_done.release()

    _start_unregistered(call)
    is_done.acquire()
    if failures:
        raise failures[0]


def _start_unregistered(function: Callable[[], object]) -> None:
    """Have a thread call a function, without an object that stands for the thread."""

    def call() -> None:
        try:
            function()
        finally:
            # A thread that starts another is registered; before Python 3.13, permanently.
            getattr(threading, "_active", {}).pop(_thread.get_ident(), None)

    _thread.start_new_thread(call, ())
