"""The part of `Pipeline` that has to do with workers for Python sources."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dali_core._execution.python_workers import PythonWorkers
from dali_core._graph.plan import ExecutionPlan
from dali_core._messages import shown
from dali_core._runtime.workers import START_METHODS, CallbackPickler, WorkerPool
from dali_core.errors import ArgumentTypeError, ArgumentValueError

MOST_WORKERS = 4096


class WorkerSettings:
    """The arguments of `Pipeline` that are about workers, checked.

    Parameters
    ----------
    num_workers, start_method, pickler
        `py_num_workers`, `py_start_method` and `py_callback_pickler`.
    """

    def __init__(self, num_workers: Any, start_method: Any, pickler: Any) -> None:
        self.is_left_out = num_workers is None
        num_workers = 0 if num_workers is None else num_workers
        if isinstance(num_workers, bool) or not hasattr(num_workers, "__index__"):
            raise ArgumentTypeError(
                f"Pipeline: py_num_workers must be an int (got {num_workers!r})."
            )
        if not 0 <= num_workers <= MOST_WORKERS:
            raise ArgumentValueError(
                f"Pipeline: py_num_workers must be from 0 to {MOST_WORKERS} (got "
                f"{shown(num_workers)}). More workers than processors gain little."
            )
        if start_method not in START_METHODS:
            raise ArgumentValueError(
                f"Pipeline: py_start_method must be one of {', '.join(START_METHODS)} (got "
                f"{start_method!r})."
            )
        self.num_workers = int(num_workers)
        self.start_method = str(start_method)
        self.pickler = CallbackPickler.from_argument(pickler)


class PipelineWorkers:
    """Worker processes and threads, as the user sees them."""

    _batch_size: int
    _plan: ExecutionPlan | None
    _worker_settings: WorkerSettings
    _workers: PythonWorkers | None

    if TYPE_CHECKING:

        def _finish_with(self, close: Callable[[], object]) -> None: ...

        def _make_plan(self) -> ExecutionPlan: ...

    @property
    def py_num_workers(self) -> int | None:
        """How many workers parallel sources have; None if there are none and that was given."""
        settings = self._worker_settings
        return None if settings.is_left_out else settings.num_workers

    @property
    def py_start_method(self) -> str:
        """How workers are started."""
        return self._worker_settings.start_method

    def start_py_workers(self) -> None:
        """Start the workers of parallel sources now; otherwise that happens when it is built.

        Forked workers inherit all that the process has by then. A process that uses CUDA must not
        be forked, and one with many threads of its own should not be: call this first.
        """
        self._started_workers()

    def external_source_shm_statistics(self) -> dict[str, list[int]]:
        """Say how much memory workers and pipeline share.

        Returns
        -------
        dict
            ``capacities`` has the size in bytes of each place for results, and
            ``per_sample_capacities`` that size for one sample: what `bytes_per_sample_hint` of
            `fn.external_source` says beforehand. Only what was written takes memory.
        """
        if self._workers is None:
            return {"capacities": [], "per_sample_capacities": []}
        return self._workers.statistics()

    def _started_workers(self) -> PythonWorkers:
        if self._workers is None:
            plan = self._make_plan()
            settings = self._worker_settings
            pool = WorkerPool(settings.num_workers, settings.start_method, settings.pickler)
            self._workers = PythonWorkers(plan, pool, self._batch_size)
            self._finish_with(self._workers.close)
        return self._workers
