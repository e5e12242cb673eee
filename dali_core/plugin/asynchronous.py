"""Calls in another thread, with futures for their results."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from dali_core._runtime.thread_start import start_new_thread

T = TypeVar("T")


def call_in_thread(function: Callable[[], T], name: str) -> Future[T]:
    """Call a function in a new thread.

    There is no executor of `concurrent.futures`: the standard library runs code when one is
    garbage, in which Ctrl-C would be lost. The interpreter waits for the thread at its end.

    Parameters
    ----------
    function : callable
        What is called.
    name : str
        Of the thread.

    Returns
    -------
    concurrent.futures.Future
        Its result is that of the function.
    """
    future: Future[T] = Future()

    def call() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(function())
        except BaseException as error:
            future.set_exception(error)

    start_new_thread(call, name, daemon=False)
    return future
