"""Private members of NVIDIA DALI's pipelines that programs use."""

from __future__ import annotations

from dali_core._execution.python_workers import PythonWorkers
from dali_core.pipeline import Pipeline


def _py_pool(pipeline: Pipeline) -> PythonWorkers | None:
    """Return the workers of parallel sources, with `pids` and `close`; None if none started."""
    workers = pipeline._run.workers
    return None if workers is None or workers.pids() is None else workers


def _py_pool_started(pipeline: Pipeline) -> bool:
    """Return whether workers were started."""
    return _py_pool(pipeline) is not None


def _prefetch(pipeline: Pipeline) -> None:
    """Start as many batches as are prefetched, unless that was done."""
    if pipeline._run.is_first:
        pipeline.schedule_run()


def add_members(pipeline: type[Pipeline]) -> None:
    """Add the members to the class."""
    for member in (_py_pool, _py_pool_started):
        setattr(pipeline, member.__name__, property(member))
    pipeline._prefetch = _prefetch  # type: ignore[attr-defined]
