"""Steps in Python, made before anything runs, and the workers that some of them use."""

from __future__ import annotations

from collections.abc import Callable

from dali_core._execution.instantiation import make_step
from dali_core._graph.node import OperatorNode
from dali_core._graph.plan.execution_plan import ExecutionPlan, StageKind
from dali_core._runtime.step import Step
from dali_core._runtime.workers import WorkerPool
from dali_core.errors import ArgumentTypeError, GraphError, PipelineStateError


class PythonWorkers:
    """The steps of a plan, with workers for those that want some.

    Workers start before any thread of the pipeline does, so that they may be forked.

    Parameters
    ----------
    plan : ExecutionPlan
        What is to be run.
    pool : WorkerPool
        The workers, not started yet.
    largest : int
        Samples in the largest batch.

    Attributes
    ----------
    steps : dict of OperatorNode to Step
        All steps.
    close : callable
        Ends the workers. It refers to no function of the user.
    """

    def __init__(self, plan: ExecutionPlan, pool: WorkerPool, largest: int) -> None:
        self.steps: dict[OperatorNode, Step] = {}
        self._pool = pool
        for stage in plan.stages:
            if stage.kind is not StageKind.PYTHON:
                continue
            (entry,) = stage.nodes
            step = make_step(entry.node)
            self.steps[entry.node] = step
            try:
                step.use_workers(pool, largest)
            except (ArgumentTypeError, GraphError) as error:
                raise type(error)(f"{entry.node.where}: {error}") from error
        self.close: Callable[[], object] = pool.start()

    def check_caller(self) -> None:
        """Check that this thread is no worker, which would wait for itself.

        Raises
        ------
        PipelineStateError
            If it is one.
        """
        if self._pool.is_here():
            raise PipelineStateError(
                "Pipeline: must not be run or reset by a source of its own (it was, in one of its "
                "workers). Do so when run has returned, or use another pipeline there."
            )

    def pids(self) -> list[int] | None:
        """Return the ids of the worker processes; None if no workers were started."""
        return self._pool.pids()

    def statistics(self) -> dict[str, list[int]]:
        """Return the sizes of shared memory (see `Pipeline.external_source_shm_statistics`)."""
        sizes = self._pool.capacities()
        return {
            "capacities": [size for size, _ in sizes],
            "per_sample_capacities": [size // samples for size, samples in sizes],
        }
