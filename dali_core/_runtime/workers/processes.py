"""Worker processes: started, given tasks, watched and ended."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import selectors
import signal
import socket
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from multiprocessing import reduction
from multiprocessing.process import BaseProcess
from typing import Any

from dali_core._runtime.finalizer import Finalizer
from dali_core._runtime.signals import DeferredSignals
from dali_core._runtime.thread_start import start_thread
from dali_core._runtime.workers import shared_memory
from dali_core._runtime.workers.first_steps import FAILED_TO_START, WorkerName
from dali_core._runtime.workers.forking import check_may_fork, without_warning_of_own_threads
from dali_core._runtime.workers.produced import WorkerFunction
from dali_core._runtime.workers.server import MESSAGE_BYTES, Post, serve
from dali_core._runtime.workers.settings import FunctionSettings
from dali_core._runtime.workers.task import Task
from dali_core.errors import PipelineStateError, WorkerError

_GRACE_SECONDS = 1.0
_SLOT_SECONDS = 0.05

_NO_START = (
    "a worker process must be able to import the program and to load the source (it was not). Read "
    "what it says, or use another py_start_method or py_callback_pickler."
)


class ProcessWorkers:
    """Processes that call functions and put what these make into shared memory.

    Parameters
    ----------
    functions : sequence of (WorkerFunction, FunctionSettings)
        What they will call, with packed sources for processes that are not forked.
    num_workers : int
        How many processes; fewer if there are only functions with state, and fewer of those.
    start_method : str
        ``"fork"``, ``"spawn"`` or ``"forkserver"``.

    Attributes
    ----------
    close : callable
        Ends all processes. It does not refer to any function.
    """

    def __init__(
        self,
        functions: Sequence[tuple[WorkerFunction, FunctionSettings]],
        num_workers: int,
        start_method: str,
    ) -> None:
        if multiprocessing.current_process().daemon:
            raise PipelineStateError(
                "Pipeline: processes for parallel sources must not be started in a daemonic process"
                " (this is one, such as a worker of multiprocessing.Pool). Use "
                "py_start_method='thread'."
            )
        settings = [each for _, each in functions]
        stateful = [number for number, each in enumerate(settings) if each.is_stateful]
        if len(stateful) == len(settings):
            num_workers = min(num_workers, len(stateful))
        worker_of = {function: i % num_workers for i, function in enumerate(stateful)}
        forks = start_method == "fork"
        if forks:
            check_may_fork()
        sent = [function for function, _ in functions]
        with contextlib.ExitStack() as started:
            posts: dict[int | None, tuple[socket.socket, socket.socket]] = {}
            for worker in {None, *worker_of.values()}:
                posts[worker] = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            for pair in posts.values():
                for end in pair:
                    started.callback(end.close)
            # No descriptor may be sent to a process twice.
            beginning = posts[None][1].dup()
            started.callback(beginning.close)
            memory = _Slots(settings)
            started.callback(memory.close)
            context: Any = multiprocessing.get_context(start_method)
            processes: list[BaseProcess] = []
            started.callback(_end, processes, 0.0)
            with without_warning_of_own_threads() if forks else contextlib.nullcontext():
                for worker in range(num_workers):
                    # The hooks around a fork are the standard library's, which loses Ctrl-C there.
                    signals = DeferredSignals()
                    post = Post(
                        shared=posts[None][1],
                        own=posts[worker][1] if worker in posts else None,
                        memory=memory.descriptor if forks else reduction.DupFd(memory.descriptor),
                        capacities=memory.mapped.capacities,
                        not_ours=[pair[0] for pair in posts.values()] if forks else [],
                        signals=signals if forks else None,
                    )
                    name = f"dali_core worker {worker}"
                    process = context.Process(
                        target=serve,
                        name=name if forks else WorkerName(name, beginning.fileno()),
                        args=(os.getpid(), sent, post),
                        daemon=True,
                    )
                    with signals, _explained_end_of_fork_server():
                        process.start()
                        processes.append(process)
                        _forget_for_exits(process)
            beginning.close()
            for pair in posts.values():
                pair[1].close()
            ours = {worker: pair[0] for worker, pair in posts.items()}
            self._dispatcher = _Dispatcher(ours, worker_of, processes, memory)
            started.pop_all()
        # Called when this is garbage or the interpreter ends, whichever comes first.
        self.close = Finalizer(self, self._dispatcher.close)
        # Only now: if Ctrl-C came before, the processes were ended under its hands.
        self._dispatcher.start()

    def submit(self, function: int, task: Task) -> None:
        """Have a function called by the next worker that is free; twice does the same."""
        self._dispatcher.submit(function, task)

    def are_here(self) -> bool:
        """Return whether this thread is one of them: never, they have their own process."""
        return False

    def pids(self) -> list[int]:
        """Return the ids of the processes that were started and not ended."""
        return self._dispatcher.pids()

    def capacities(self) -> list[tuple[int, int]]:
        """Return the size of each slot in shared memory, and the samples that it is for."""
        return self._dispatcher.memory.sizes()


class _Slots:
    """The shared memory, and which of its slots are free."""

    def __init__(self, settings: Sequence[FunctionSettings]) -> None:
        self._samples: list[int] = []
        self._free: list[deque[int]] = []
        capacities: list[int] = []
        for each in settings:
            self._samples += [each.samples_in_result] * each.num_results
            self._free.append(deque(range(len(capacities), len(capacities) + each.num_results)))
            num_bytes = each.samples_in_result * each.bytes_per_sample
            capacities += [shared_memory.capacity_for(num_bytes)] * each.num_results
        self.descriptor = shared_memory.create_file(len(capacities))
        self.mapped = shared_memory.SharedSlots(self.descriptor, capacities)

    def sizes(self) -> list[tuple[int, int]]:
        return list(zip(self.mapped.capacities, self._samples, strict=True))

    def take(self, function: int) -> int | None:
        free = self._free[function]
        return free.popleft() if free else None

    def give_back(self, function: int, slot: int) -> None:
        self._free[function].append(slot)

    def close(self) -> None:
        os.close(self.descriptor)


class _Dispatcher:
    """A thread that sends tasks, receives results, and sees when a process ends.

    Only this thread does so: a program's own thread may be interrupted by Ctrl-C anywhere.
    """

    def __init__(
        self,
        posts: dict[int | None, socket.socket],
        worker_of: dict[int, int],
        processes: list[BaseProcess],
        memory: _Slots,
    ) -> None:
        self.memory = memory
        self._owner = os.getpid()
        self._posts = posts
        self._worker_of = worker_of
        self._processes = processes
        self._arrived: deque[tuple[int, Task]] = deque()
        self._waiting: dict[int, deque[Task]] = {}
        self._running: dict[int, tuple[int, int, Task]] = {}
        # Results that are referenced, by their leases; and those that were released. Their release
        # runs no code in Python, which Ctrl-C could interrupt.
        self._leased: dict[weakref.ref[_Lease], tuple[int, int]] = {}
        self._returned: deque[weakref.ref[_Lease]] = deque()
        self._num_sent = 0
        self._broken: WorkerError | None = None
        self._is_closed = threading.Lock()
        # Taken by the thread when it begins, or by `close` before that: its start may take long.
        self._has_begun = threading.Lock()
        self._closes_itself = False
        self._wake_receiver, self._wake_sender = socket.socketpair()
        for end in (self._wake_receiver, self._wake_sender, *posts.values()):
            end.setblocking(False)
        self._thread = threading.Thread(
            target=self._dispatch, name="dali_core workers", daemon=True
        )

    def start(self) -> None:
        start_thread(self._thread)

    def submit(self, function: int, task: Task) -> None:
        self._arrived.append((function, task))
        self._wake()

    def pids(self) -> list[int]:
        return [process.pid for process in self._processes if process.pid is not None]

    def close(self) -> None:
        # In a forked child the processes are the parent's.
        if os.getpid() != self._owner or not self._is_closed.acquire(blocking=False):
            return
        if self._thread is threading.current_thread():
            # Garbage is collected anywhere, also in the middle of `_dispatch`, which ends next.
            self._closes_itself = True
            self._wake()
            return
        self._shut_down()
        # Ctrl-C may have come before the start, or while a thread was being started.
        if not self._has_begun.acquire(blocking=False):
            self._thread.join()
        self._release()

    def _shut_down(self) -> None:
        for post in self._posts.values():
            # Reaches the workers even if other processes have inherited this end.
            with contextlib.suppress(OSError):
                post.shutdown(socket.SHUT_RDWR)
        self._wake()

    def _release(self) -> None:
        _end(self._processes, _GRACE_SECONDS)
        # The standard library runs code when threads and processes are garbage: not where Ctrl-C
        # could end it, and be lost with it.
        self._processes.clear()
        del self._thread
        self._fail(WorkerError("the workers must be running (they were ended by close)."))
        for end in (self._wake_receiver, self._wake_sender, *self._posts.values()):
            end.close()
        self.memory.close()

    def _wake(self) -> None:
        # It may be awake already, or closed.
        with contextlib.suppress(OSError):
            self._wake_sender.send(b"\0")

    def _dispatch(self) -> None:
        if not self._has_begun.acquire(blocking=False):  # closed
            return
        self._dispatch_until_closed()
        if self._closes_itself:
            self._shut_down()
            self._release()

    def _dispatch_until_closed(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake_receiver, selectors.EVENT_READ)
            selector.register(self._posts[None], selectors.EVENT_READ)
            for process in self._processes:
                selector.register(process.sentinel, selectors.EVENT_READ, process)
            while not self._is_closed.locked():
                # The release of a slot does not wake this thread.
                is_short = any(self._waiting.values())
                events = selector.select(_SLOT_SECONDS if is_short else None)
                with contextlib.suppress(BlockingIOError):
                    self._wake_receiver.recv(4096)
                if not self._receive():
                    # No worker is left, which the selector would report again and again.
                    with contextlib.suppress(KeyError):
                        selector.unregister(self._posts[None])
                if self._is_closed.locked():
                    return
                for key, _ in events:
                    if key.data is not None:
                        selector.unregister(key.fileobj)
                        self._broken = self._broken or self._ended(key.data)
                if self._broken is not None:
                    self._fail(self._broken)
                else:
                    self._send()

    def _receive(self) -> bool:
        """Take all results that are there, and return whether more may come."""
        was_reset = False
        while True:
            try:
                message = self._posts[None].recv(MESSAGE_BYTES)
            except BlockingIOError:
                return True
            except ConnectionError:
                # Workers that leave tasks unread reset the connection, which the system says once
                # and before it gives what was sent last.
                if was_reset:
                    return False
                was_reset = True
                continue
            if not message:
                return False
            task, *details = pickle.loads(message)  # noqa: S301 (from processes of ours)
            if task == FAILED_TO_START:
                self._broken = WorkerError(f"{_NO_START}\n{details[0]}")
                continue
            if task not in self._running:  # it was given up, since another worker has ended
                continue
            function, slot, asked = self._running.pop(task)
            lease = _Lease()
            self._leased[weakref.ref(lease, self._returned.append)] = function, slot
            start, end = details
            mapped = self.memory.mapped
            asked.set_outcome(partial(shared_memory.read, mapped, slot, start, end, lease))
            del asked, lease

    def _send(self) -> None:
        while self._returned:
            self.memory.give_back(*self._leased.pop(self._returned.popleft()))
        while self._arrived:
            function, task = self._arrived.popleft()
            if not task.begin():
                continue
            self._waiting.setdefault(function, deque()).append(task)
        for function, tasks in self._waiting.items():
            post = self._posts[self._worker_of.get(function)]
            while tasks and (slot := self.memory.take(function)) is not None:
                message = pickle.dumps((self._num_sent, slot, function, tasks[0].arguments))
                if len(message) > MESSAGE_BYTES:
                    self.memory.give_back(function, slot)
                    tasks.popleft().set_outcome(_too_large(len(message)))
                    continue
                try:
                    post.send(message)
                except OSError:
                    # It is full, and the next result tells when there is room; or the worker has
                    # ended, as its sentinel tells.
                    self.memory.give_back(function, slot)
                    break
                self._running[self._num_sent] = (function, slot, tasks.popleft())
                self._num_sent += 1

    def _ended(self, process: BaseProcess) -> WorkerError:
        process.join(_GRACE_SECONDS)
        code = process.exitcode
        how = f"with status {code}"
        if code is not None and code < 0:
            how = f"by signal {-code}, {signal.strsignal(-code)}"
        return WorkerError(
            f"a worker process must run as long as its pipeline (process {process.pid} has ended "
            f"{how}). Look for what it printed, and whether the system was out of memory. Build a "
            "new pipeline to continue."
        )

    def _fail(self, error: WorkerError) -> None:
        pending = [task for _, _, task in self._running.values()]
        self._running.clear()
        pending += [task for _, task in self._arrived if task.begin()]
        pending += [task for tasks in self._waiting.values() for task in tasks]
        self._arrived.clear()
        self._waiting.clear()
        for task in pending:
            task.set_outcome(error)


class _Lease:
    """Kept by everything that is in a slot."""


@contextlib.contextmanager
def _explained_end_of_fork_server() -> Iterator[None]:
    """Raise an error of ours if the server of ``"forkserver"`` has ended.

    With Python 3.14, it imports the program before it forks, ends if it cannot, and prints why.
    """
    try:
        yield
    except (EOFError, ConnectionError) as error:
        raise WorkerError(_NO_START) from error


def _too_large(size: int) -> WorkerError:
    return WorkerError(
        f"what a worker is told must have at most {MESSAGE_BYTES} bytes (got {size}). Keep the "
        "state of the source smaller."
    )


def _forget_for_exits(process: BaseProcess) -> None:
    """Have only this library end a process.

    `multiprocessing` terminates all daemonic processes that it knows when an interpreter exits,
    also that of a child that was forked later and is not their parent.
    """
    getattr(multiprocessing.process, "_children", set()).discard(process)


def _end(processes: Sequence[BaseProcess], grace: float) -> None:
    """Wait for processes, force those that do not end by themselves, and forget all."""
    deadline = time.monotonic() + grace
    for process in processes:
        process.join(max(0.0, deadline - time.monotonic()))
    for force in ("terminate", "kill"):
        alive = [process for process in processes if process.is_alive()]
        for process in alive:
            getattr(process, force)()
        for process in alive:
            process.join(_GRACE_SECONDS)
    for process in processes:
        # A process that SIGKILL has not ended hangs in the kernel: a wait would be unbounded.
        with contextlib.suppress(ValueError):
            process.close()
