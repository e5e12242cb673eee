"""Blocks in which no handlers of signals run."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from dali_core._runtime.signals import DeferredSignals


class Interrupted(Exception):
    """What the handler raises."""


def interrupt(*_: object) -> None:
    raise Interrupted


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    before = signal.signal(signal.SIGUSR1, interrupt)
    yield
    signal.signal(signal.SIGUSR1, before)


def test_deferred_signal_is_handled_after_the_block() -> None:
    reached = []

    def run_block() -> None:
        with DeferredSignals():
            os.kill(os.getpid(), signal.SIGUSR1)
            for number in range(100):
                reached.append(number)
        os.getpid()  # handlers run before this at the latest

    with pytest.raises(Interrupted):
        run_block()
    assert len(reached) == 100


def test_handlers_are_restored_after_the_block() -> None:
    ignored = signal.getsignal(signal.SIGPIPE)
    with DeferredSignals():
        assert signal.getsignal(signal.SIGUSR1) is not interrupt
        assert signal.getsignal(signal.SIGPIPE) is ignored
    assert signal.getsignal(signal.SIGUSR1) is interrupt
    with pytest.raises(ValueError, match="inner"), DeferredSignals():
        raise ValueError("inner")
    assert signal.getsignal(signal.SIGUSR1) is interrupt


def test_a_handler_that_was_chosen_in_the_block_stays() -> None:
    with DeferredSignals():
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    assert signal.getsignal(signal.SIGUSR1) is signal.SIG_IGN


def test_other_threads_are_left_alone() -> None:
    found = []

    def use() -> None:
        with DeferredSignals():
            found.append(signal.getsignal(signal.SIGUSR1))

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert found == [interrupt]


def test_signal_delivered_to_another_thread_is_deferred() -> None:
    """The system delivers a signal of the process to any thread that does not block it.

    The test names the thread: left to the system, one of another library may take it later.
    """
    reached = []

    def take() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)

    def run_block() -> None:
        with DeferredSignals():
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
            thread = threading.Thread(target=take)
            thread.start()
            thread.join()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
            reached.append(True)
        os.getpid()  # handlers run before this at the latest

    with pytest.raises(Interrupted):
        run_block()
    assert reached
