"""Finalizers: called once, complete, and without side effects."""

from __future__ import annotations

import _thread
import gc
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from dali_core._runtime.finalizer import Finalizer
from tests.hanging import HANG_SECONDS


class Owner:
    pass


def test_called_when_the_owner_is_garbage() -> None:
    owner, calls = Owner(), []
    finalizer = Finalizer(owner, calls.append, 1)
    assert calls == []
    del owner
    assert calls == [1]
    finalizer()
    assert calls == [1]


def test_called_on_demand() -> None:
    owner, calls = Owner(), []
    finalizer = Finalizer(owner, calls.append, 1)
    finalizer()
    finalizer()
    del owner
    assert calls == [1]


def test_finalizer_needs_no_reference() -> None:
    owner, calls = Owner(), []
    Finalizer(owner, calls.append, 1)
    owner.itself = owner  # type: ignore[attr-defined]
    del owner
    gc.collect()
    assert calls == [1]


@pytest.mark.parametrize("is_main", [True, False])
def test_finalizer_does_not_run_in_the_main_thread(is_main: bool) -> None:
    threads: list[threading.Thread | int] = []

    def finish() -> None:
        Finalizer(Owner(), lambda: threads.append(threading.get_ident()))()
        threads.append(threading.get_ident())

    if is_main:
        finish()
    else:
        thread = threading.Thread(target=finish)
        thread.start()
        thread.join()
    assert (threads[0] == threads[1]) != is_main


def test_error_is_raised_to_the_caller() -> None:
    def fail() -> None:
        raise OSError("no")

    owner = Owner()
    finalizer = Finalizer(owner, fail)
    with pytest.raises(OSError, match="no"):
        finalizer()
    finalizer()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_error_without_a_caller_is_unraisable(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OSError("no")

    printed: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda error: printed.append(error.exc_value))
    owner = Owner()
    Finalizer(owner, fail)
    del owner
    assert [str(error) for error in printed] == ["no"]


class Interrupt(BaseException):
    pass


@pytest.fixture
def alarm() -> Iterator[None]:
    def interrupt(*_: object) -> None:
        raise Interrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    yield
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("alarm")
@pytest.mark.parametrize("on_demand", [True, False])
def test_exceptions_of_signal_handlers_reach_the_program(on_demand: bool) -> None:
    calls = []

    def slow() -> None:
        signal.raise_signal(signal.SIGALRM)
        calls.append(1)

    owner: Owner | None = Owner()
    finalizer = Finalizer(owner, slow)
    try:
        if on_demand:
            finalizer()
        owner = None
        for _ in range(1000):  # handlers are called between two bytecode instructions
            pass
        pytest.fail("what the handler raised was lost")
    except Interrupt:
        pass
    assert calls == [1]


def test_interpreter_shutdown() -> None:
    """Newer ones are called first, each in any case; no thread can be started any more."""
    program = """
import threading
from dali_core._runtime.finalizer import Finalizer


class Owner:
    pass

owners = [Owner(), Owner(), Owner()]
def fail():
    raise OSError("failed")
Finalizer(owners[0], print, "first")
Finalizer(owners[1], fail)
Finalizer(owners[2], print, "last")
"""
    result = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
    )
    assert result.stdout == "last\nfirst\n"
    assert "OSError: failed" in result.stderr
    assert result.returncode == 0


COLLECTED_UNDER_A_LOCK = """
import faulthandler, sys, threading
from dali_core._runtime.finalizer import Finalizer

class Owner:
    pass

done = threading.Event()

def finish():
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
    done.set()

def collect():
    owner = Owner()
    Finalizer(owner, finish)
    # As when garbage is collected within threading.enumerate().
    with threading._active_limbo_lock:
        del owner
    done.wait()
    done.clear()

faulthandler.dump_traceback_later(int(sys.argv[1]), exit=True)
collect()
other = threading.Thread(target=collect)
other.start()
other.join()
print("ended")
"""


def test_foreign_thread_is_unregistered() -> None:
    """Garbage may be collected in a thread that was started without `threading`."""
    found: queue.SimpleQueue[tuple[int, list[int | None]]] = queue.SimpleQueue()

    def finish() -> None:
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()

    def collect() -> None:
        owner = Owner()
        Finalizer(owner, finish)
        del owner
        registered = [thread.ident for thread in threading.enumerate()]
        found.put((threading.get_ident(), registered))

    _thread.start_new_thread(collect, ())
    ident, registered = found.get(timeout=HANG_SECONDS)
    assert ident not in registered


def test_garbage_that_is_collected_while_no_thread_can_end() -> None:
    done = subprocess.run(
        [sys.executable, "-c", COLLECTED_UNDER_A_LOCK, str(HANG_SECONDS)],
        capture_output=True,
        text=True,
        check=False,
        timeout=2 * HANG_SECONDS,
    )
    assert done.stdout == "ended\n", done.stderr
