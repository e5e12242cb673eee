"""Starts threads, whatever signals come meanwhile."""

from __future__ import annotations

import _thread
import threading


def start_thread(thread: threading.Thread) -> None:
    """Start a thread where no handler of a signal runs.

    Python waits for the new thread with a lock. If a handler raises an exception at that time, as
    that of Ctrl-C does, the lock may stay locked, and the new thread waits for it for ever.
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
    failures: list[BaseException] = []
    is_done = _thread.allocate_lock()
    is_done.acquire()

    def start() -> None:
        try:
            thread.start()
        except BaseException as error:
            failures.append(error)
        finally:
            is_done.release()

    _thread.start_new_thread(start, ())
    is_done.acquire()
    if failures:
        raise failures[0]
