"""Worker threads: for functions that spend their time outside the interpreter."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy

from dali_core._runtime.finalizer import Finalizer
from dali_core._runtime.tensor import TensorCPU
from dali_core._runtime.thread_start import start_thread
from dali_core._runtime.workers.produced import WHOLE, Produced, WorkerFunction
from dali_core._runtime.workers.settings import FunctionSettings
from dali_core._runtime.workers.task import Task

_GRACE_SECONDS = 1.0

_Tasks = queue.SimpleQueue[tuple[WorkerFunction, Task] | None]


class ThreadWorkers:
    """Threads that call functions.

    Parameters
    ----------
    functions : sequence of (WorkerFunction, FunctionSettings)
        What they will call. Each function with state has a thread of its own.
    num_workers : int
        How many threads call the other functions.

    Attributes
    ----------
    close : callable
        Ends all threads that are not in the middle of a function. It does not refer to any.
    """

    def __init__(
        self, functions: Sequence[tuple[WorkerFunction, FunctionSettings]], num_workers: int
    ) -> None:
        self._functions = [function for function, _ in functions]
        shared: _Tasks = queue.SimpleQueue()
        self._queues = [
            queue.SimpleQueue() if each.is_stateful else shared for _, each in functions
        ]
        served = {id(tasks): tasks for tasks in self._queues if tasks is not shared}.values()
        of_threads = [*served, *([shared] * num_workers if shared in self._queues else [])]
        threads = [
            threading.Thread(
                target=_work, args=(tasks,), name=f"dali_core worker {number}", daemon=True
            )
            for number, tasks in enumerate(of_threads)
        ]
        # Called when this is garbage or the interpreter ends, whichever comes first.
        self.close: Callable[[], object] = Finalizer(self, _close, of_threads, threads)
        for thread in threads:
            start_thread(thread)
        self._identifiers = {thread.ident for thread in threads}

    def are_here(self) -> bool:
        """Return whether this thread is one of them."""
        return threading.get_ident() in self._identifiers

    def submit(self, function: int, task: Task) -> None:
        """Have a function called by the next thread that is free; twice does the same."""
        self._queues[function].put((self._functions[function], task))

    def pids(self) -> list[int]:
        """Return the ids of the processes: there are none."""
        return []

    def capacities(self) -> list[tuple[int, int]]:
        """Return the sizes of the slots in shared memory: there are none."""
        return []


def _work(tasks: _Tasks) -> None:
    while (item := tasks.get()) is not None:
        function, task = item
        if not task.begin():
            del item, function, task
            continue
        try:
            produced = function(_copy, *task.arguments)
        except BaseException as error:
            produced = Produced(failures={WHOLE: error})
        task.set_outcome(partial(_same, produced))
        # What is waited with must not be kept alive meanwhile.
        del item, function, task, produced


def _same(produced: Produced) -> Produced:
    return produced


def _copy(sample: TensorCPU) -> TensorCPU:
    return TensorCPU(numpy.array(sample), sample.layout())


def _close(queues: Sequence[_Tasks], threads: Sequence[threading.Thread]) -> None:
    for tasks in queues:
        tasks.put(None)
    deadline = time.monotonic() + _GRACE_SECONDS
    for thread in threads:
        if thread is not threading.current_thread() and thread.is_alive():
            thread.join(max(0.0, deadline - time.monotonic()))
