"""Threads start as a whole, though a handler of a signal raises an exception meanwhile."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator

import pytest

from dali_core._runtime.thread_start import map_in_threads, start_new_thread, start_thread
from tests.hanging import HANG_SECONDS


class Interrupted(Exception):
    """What the handler raises."""


class InterruptedThread(threading.Thread):
    """A thread during whose start a signal comes."""

    def start(self) -> None:
        os.kill(os.getpid(), signal.SIGUSR1)
        super().start()


@pytest.fixture
def handler() -> Iterator[None]:
    def interrupt(*_: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGUSR1, interrupt)
    yield
    signal.signal(signal.SIGUSR1, before)


def test_threads_start_from_any_thread() -> None:
    inner_runs, outer_runs = threading.Event(), threading.Event()

    def start_another() -> None:
        inner = threading.Thread(target=inner_runs.set)
        start_thread(inner)
        inner.join()
        outer_runs.set()

    outer = threading.Thread(target=start_another)
    start_thread(outer)
    outer.join()
    assert inner_runs.is_set()
    assert outer_runs.is_set()


@pytest.mark.usefixtures("handler")
def test_thread_start_survives_signals() -> None:
    runs = threading.Event()
    thread = InterruptedThread(target=runs.set)

    def start_and_call() -> None:
        start_thread(thread)
        time.sleep(0)  # handlers run before this at the latest

    with pytest.raises(Interrupted):
        start_and_call()
    runs.wait()
    thread.join()


def test_errors_are_raised() -> None:
    thread = threading.Thread(target=lambda: None)
    start_thread(thread)
    thread.join()
    with pytest.raises(RuntimeError, match="started once"):
        start_thread(thread)


def test_results_of_threads_are_in_order() -> None:
    ended = threading.Event()
    found = list(map_in_threads(lambda x: -x, range(100), 4, ended.set))
    assert found == [-x for x in range(100)]
    assert ended.wait(HANG_SECONDS)
    assert list(map_in_threads(abs, [], 1)) == []


def test_an_error_in_a_thread_is_raised_and_ends_the_rest() -> None:
    ended = threading.Event()

    def inverse(x: int) -> float:
        return 1 / x

    results = map_in_threads(inverse, [1, 0, 2], 1, ended.set)
    assert next(results) == 1
    with pytest.raises(ZeroDivisionError):
        next(results)
    assert ended.wait(HANG_SECONDS)


def test_a_new_thread_runs() -> None:
    runs = threading.Event()
    start_new_thread(runs.set, "name", daemon=True)
    assert runs.wait(HANG_SECONDS)
