"""Parts of the workers: shared memory, pickled exceptions, and when to fork."""

from __future__ import annotations

import gc
import os
import pickle
import selectors
import socket
import threading
import warnings
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from dali_core._runtime.tensor import TensorCPU
from dali_core._runtime.workers import WHOLE, CallbackPickler, Produced, forking, shared_memory
from dali_core._runtime.workers.first_steps import FAILED_TO_START
from dali_core._runtime.workers.processes import _Dispatcher
from dali_core._runtime.workers.produced import pack_exception, unpack_exception
from dali_core._runtime.workers.task import Task
from dali_core.errors import PipelineStateError, WorkerError
from tests.hanging import HANG_SECONDS


@pytest.fixture
def memory() -> Iterator[int]:
    descriptor = shared_memory.create_file(3)
    yield descriptor
    os.close(descriptor)


def test_shared_memory_round_trip(memory: int) -> None:
    writing, reading = (shared_memory.SharedSlots(memory, [1 << 20] * 3) for _ in range(2))
    samples = [
        TensorCPU(np.arange(6, dtype=np.int16).reshape(2, 3), "HW"),
        TensorCPU(np.zeros((0, 5), bool)),
        TensorCPU(np.float16(2.5)),
        TensorCPU(np.arange(400_000, dtype=np.float64)),
    ]
    for slot in (2, 0, 2):
        writer = shared_memory.SlotWriter(writing, slot)
        column = [writer.keep(sample) for sample in samples]
        failures: dict[int, BaseException] = {1: KeyError("key")}
        produced = Produced([column, [None]], failures, True, {"number": 3})
        place = writer.finish(produced)
        found = shared_memory.read(reading, slot, *place, None)
        for sample, result in zip(samples, found.columns[0], strict=True):
            np.testing.assert_array_equal(np.asarray(sample), np.asarray(result))
            assert (sample.dtype, sample.layout()) == (result.dtype, result.layout())
            assert result.data_ptr() % 64 == 0
        assert found.columns[1] == [None]
        assert (found.has_ended, found.state) == (True, {"number": 3})
        assert isinstance(found.failures[1], KeyError)
    assert writing.capacities == reading.capacities
    # Only written pages use memory.
    assert os.fstat(memory).st_blocks * 512 < 8 << 20


def test_a_place_is_held_by_every_sample_in_it(memory: int) -> None:
    class Lease:
        pass

    slots = shared_memory.SharedSlots(memory, [1 << 20] * 3)
    writer = shared_memory.SlotWriter(slots, 1)
    column = [writer.keep(TensorCPU(np.full(10, i))) for i in range(3)]
    place = writer.finish(Produced([column]))
    lease = Lease()
    produced = shared_memory.read(slots, 1, *place, lease)
    ended = threading.Event()
    weakref.finalize(lease, ended.set)
    view = np.asarray(produced.columns[0][2])[3:]
    del lease, produced
    gc.collect()
    assert not ended.is_set()
    assert view.tolist() == [2] * 7
    del view
    gc.collect()
    assert ended.is_set()


class NeedsTwo(Exception):
    def __init__(self, one: int, other: int) -> None:
        super().__init__(one)


def test_exceptions_arrive_with_their_traceback() -> None:
    try:
        raise ValueError("wrong") from KeyError("cause")
    except ValueError as error:
        packed, text = pack_exception(error)
    found = unpack_exception(packed, text)
    assert (type(found), found.args) == (ValueError, ("wrong",))
    assert "test_workers.py" in str(found.__cause__)
    assert "KeyError: 'cause'" in str(found.__cause__)


def test_exceptions_that_cannot_be_made_again_arrive_as_text() -> None:
    packed, text = pack_exception(NeedsTwo(1, 2))
    assert packed is None
    found = unpack_exception(packed, text)
    assert isinstance(found, WorkerError)
    assert "NeedsTwo: 1" in str(found)
    assert isinstance(unpack_exception(b"not a pickle", "Traceback\nThing: 5"), WorkerError)
    assert WHOLE not in range(1000)


def test_a_process_that_uses_cuda_is_not_forked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forking.check_may_fork()
    monkeypatch.setattr(forking, "_CUDA_FILE", str(tmp_path / "device"))
    forking.check_may_fork()
    with (
        open(tmp_path / "device", "w"),
        pytest.raises(PipelineStateError, match="before this process uses CUDA"),
    ):
        forking.check_may_fork()


@pytest.mark.parametrize(("name", "is_silent"), [("dali_core steps", True), ("other", False)])
def test_python_may_warn_of_the_threads_of_others_only(
    name: str, is_silent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = [threading.current_thread(), threading.Thread(name=name)]
    monkeypatch.setattr(threading, "enumerate", lambda: threads)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with forking.without_warning_of_own_threads():
            text = "This process (pid=1) is multi-threaded, use of fork() may lead to deadlocks."
            warnings.warn(text, DeprecationWarning, stacklevel=1)
    assert len(caught) == (0 if is_silent else 1)


def test_the_pickler_falls_back() -> None:
    pickler = CallbackPickler.from_argument(None)
    assert pickler.pack(len).unpack() is len
    own = CallbackPickler.from_argument((pickle, {"protocol": 2}))
    assert own.pack(len).unpack() is len
    assert own.pack(len).data == pickle.dumps(len, protocol=2)
    pytest.importorskip("cloudpickle", reason="not available: cloudpickle")
    assert pickler.pack(lambda: 7).unpack()() == 7


def test_start_failure_is_reported_with_unread_tasks() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        ours.setblocking(False)
        ours.send(b"a task")
        theirs.send(pickle.dumps((FAILED_TO_START, "no module")))
        theirs.close()
        dispatcher = object.__new__(_Dispatcher)
        dispatcher._posts, dispatcher._broken = {None: ours}, None
        assert not dispatcher._receive()
    assert isinstance(dispatcher._broken, WorkerError)
    assert str(dispatcher._broken).endswith("no module")


@pytest.mark.parametrize("when", ["before", "after"])
def test_the_dispatching_thread_may_collect_the_workers(
    when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Garbage is collected anywhere, also where the thread is about to wait."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    memory = Mock()
    dispatcher = _Dispatcher({None: ours}, {}, [], memory)

    class Selector(selectors.DefaultSelector):
        def select(self, timeout: float | None = None) -> Any:
            if when == "before":
                dispatcher.close()
            found = super().select(timeout)
            dispatcher.close()
            return found

    monkeypatch.setattr(selectors, "DefaultSelector", Selector)
    thread = dispatcher._thread
    task = Task(())
    dispatcher.submit(0, task)
    dispatcher.start()
    thread.join(HANG_SECONDS)
    assert not thread.is_alive()
    with theirs:
        assert theirs.recv(1) == b""
    assert ours.fileno() == -1
    memory.close.assert_called_once_with()
    with pytest.raises(WorkerError, match="ended by close"):
        task.result()


def test_thread_started_after_close_exits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ctrl-C may come while the thread is being started, and has the workers closed."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    dispatcher = _Dispatcher({None: ours}, {}, [], Mock())
    thread = dispatcher._thread
    failures: list[object] = []
    monkeypatch.setattr(threading, "excepthook", failures.append)
    with theirs:
        dispatcher.close()
        thread.start()
        thread.join(HANG_SECONDS)
    assert not thread.is_alive()
    assert failures == []
