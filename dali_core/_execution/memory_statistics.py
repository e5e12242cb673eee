"""Memory statistics of the outputs of each operator."""

from __future__ import annotations

from collections.abc import Sequence

from dali_core._graph.plan.execution_plan import ExecutionPlan, PlannedNode, PlannedStage, StageKind
from dali_core._runtime.executor import Batch


class MemoryStatistics:
    """Collects the sizes of all values of the batches that are returned.

    Parameters
    ----------
    plan : ExecutionPlan
        What computes the values.
    """

    def __init__(self, plan: ExecutionPlan) -> None:
        self._plan = plan
        self._batch_bytes = [0] * plan.num_values
        self._sample_bytes = [0] * plan.num_values
        self._has_batch = False

    def add(self, batch: Batch) -> None:
        """Take note of a batch that is done."""
        self._has_batch = True
        for value in range(self._plan.num_values):
            sizes = batch.bytes_of(value)
            self._batch_bytes[value] = max(self._batch_bytes[value], sum(sizes))
            self._sample_bytes[value] = max(self._sample_bytes[value], max(sizes, default=0))

    def as_dict(self) -> dict[str, dict[str, list[int]]]:
        """Return the statistics in the form of `Pipeline.executor_statistics`."""
        if not self._has_batch:
            return {}
        return {
            f"{_place(stage, entry)}_{entry.node.name}": self._of(entry.outputs)
            for stage in self._plan.stages
            for entry in stage.nodes
        }

    def _of(self, values: Sequence[int]) -> dict[str, list[int]]:
        batches = [self._batch_bytes[value] for value in values]
        samples = [self._sample_bytes[value] for value in values]
        # Buffers are made for what they hold: nothing is reserved beyond that.
        return {
            "real_memory_size": batches,
            "max_real_memory_size": samples,
            "reserved_memory_size": list(batches),
            "max_reserved_memory_size": list(samples),
        }


def _place(stage: PlannedStage, entry: PlannedNode) -> str:
    if stage.kind is not StageKind.DEVICE:
        return "CPU"
    return "MIXED" if entry.node.arguments.get("device") == "mixed" else "GPU"
