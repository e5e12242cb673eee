"""The workers of one pipeline: what they are, and what they run."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from dali_core._runtime.workers.pickling import CallbackPickler
from dali_core._runtime.workers.produced import WorkerFunction
from dali_core._runtime.workers.settings import FunctionSettings, Workers
from dali_core._runtime.workers.task import Task
from dali_core.errors import GraphError

START_METHODS = ("fork", "spawn", "forkserver", "thread")


class WorkerPool:
    """Workers for functions that are added one after the other, and started once.

    Parameters
    ----------
    num_workers : int
        How many processes or threads.
    start_method : str
        One of `START_METHODS`.
    pickler : CallbackPickler
        How functions are sent to processes that are not forked.

    Attributes
    ----------
    num_workers : int
        How many there are at most.
    """

    def __init__(self, num_workers: int, start_method: str, pickler: CallbackPickler) -> None:
        self.num_workers = num_workers
        self._start_method = start_method
        self._pickler = pickler
        self._functions: list[tuple[WorkerFunction, FunctionSettings]] = []
        self._workers: Workers | None = None

    def add(self, function: WorkerFunction, settings: FunctionSettings) -> int:
        """Add a function, and give the number that `submit` knows it by.

        Raises
        ------
        ArgumentTypeError
            If it cannot be sent to the processes.
        GraphError
            If there are no workers.
        """
        if not self.num_workers:
            raise GraphError(
                "parallel must be False if the pipeline has no workers (got True, with "
                "py_num_workers=0). Give it some."
            )
        inherited = self._start_method in ("fork", "thread")
        if not inherited:
            function = copy.copy(function)
            function.source = self._pickler.pack(function.source)
        self._functions.append((function, settings))
        return len(self._functions) - 1

    def start(self) -> Callable[[], object]:
        """Start the workers, if there is anything for them to do.

        Returns
        -------
        callable
            Ends them. It refers to no function.
        """
        if not self._functions:
            return _do_nothing
        # They import NumPy, whose threads must not start before they are needed.
        if self._start_method == "thread":
            from dali_core._runtime.workers.threads import ThreadWorkers

            self._workers = ThreadWorkers(self._functions, self.num_workers)
        else:
            from dali_core._runtime.workers.processes import ProcessWorkers

            self._workers = ProcessWorkers(self._functions, self.num_workers, self._start_method)
        self._functions = []
        return self._workers.close

    def submit(self, function: int, *arguments: Any) -> Task:
        """Have a function called by the next worker that is free."""
        task = Task(arguments)
        self.submit_task(function, task)
        return task

    def submit_task(self, function: int, task: Task) -> None:
        """Have a function called, unless that was asked for before."""
        assert self._workers is not None
        self._workers.submit(function, task)

    def is_here(self) -> bool:
        """Return whether this thread is one of the workers."""
        return self._workers is not None and self._workers.are_here()

    def pids(self) -> list[int] | None:
        """Return the ids of the processes; None if no workers were started."""
        return None if self._workers is None else self._workers.pids()

    def capacities(self) -> list[tuple[int, int]]:
        """Return the size of each slot in shared memory, and the samples that it is for."""
        return [] if self._workers is None else self._workers.capacities()


def _do_nothing() -> None:
    pass
