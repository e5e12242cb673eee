"""Settings of a function in workers, and the protocol of workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from dali_core._runtime.workers.task import Task


@dataclass(frozen=True)
class FunctionSettings:
    """Settings of a function in workers.

    Attributes
    ----------
    num_results : int
        How many results may exist at once, made or being made.
    samples_in_result : int
        How many samples a result has at most.
    bytes_per_sample : int
        What to expect; memory grows where it is not enough.
    is_stateful : bool
        Whether all calls must be made one after the other by the same worker.
    """

    num_results: int
    samples_in_result: int
    bytes_per_sample: int = 0
    is_stateful: bool = False


class Workers(Protocol):
    """Processes or threads that were started."""

    def submit(self, function: int, task: Task) -> None:
        """Have a function called; a task that was submitted already is not called again."""
        ...

    def pids(self) -> list[int]:
        """Return the ids of the processes."""
        ...

    def capacities(self) -> list[tuple[int, int]]:
        """Return the size of each slot in shared memory, and the samples that it is for."""
        ...

    def are_here(self) -> bool:
        """Return whether this thread is one of them."""
        ...

    def close(self) -> object:
        """End all workers. Results that were opened stay valid."""
        ...
