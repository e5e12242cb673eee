"""The graph of a pipeline: how it is defined, and what it gives out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from dali_core._execution.memory_statistics import MemoryStatistics
from dali_core._graph.context import warn_user
from dali_core._graph.graph import Graph
from dali_core._graph.node import DataNode, OperatorNode
from dali_core._graph.plan import ExecutionPlan
from dali_core._graph.planner import make_plan
from dali_core.errors import ArgumentValueError, NoOutputsError, PipelineStateError
from dali_core.pipeline._outputs import (
    ExpectedOutputs,
    graph_output,
    graph_value,
    output_node,
)

if TYPE_CHECKING:
    from dali_core.pipeline._pipeline import Pipeline


class PipelineGraph:
    """The part of `Pipeline` that defines its graph and plans how to run it."""

    _batch_size: int
    _enable_memory_stats: bool
    _expected: ExpectedOutputs
    _graph: Graph
    _location: str
    _memory: MemoryStatistics | None
    _optimize: bool
    _outputs: list[DataNode] | None
    _plan: ExecutionPlan | None

    if TYPE_CHECKING:

        def __enter__(self) -> Any: ...

        def __exit__(self, *error: Any) -> None: ...

    def define_graph(self) -> Any:
        """Define the graph: override this to call operators and return the outputs.

        Returns
        -------
        DataNode or sequence of DataNode
            The outputs.
        """
        raise NoOutputsError(
            f"Pipeline made at {self._location}: has no outputs. Override define_graph, call "
            "set_outputs, or use @pipeline_def."
        )

    def set_outputs(self, *outputs: Any) -> None:
        """Choose what the pipeline gives out.

        Parameters
        ----------
        *outputs : DataNode
            Results of operators. Those of operators that were called outside of pipelines, or in
            one that was never built, are computed in this one, too. Numbers, lists and arrays
            become constants.
        """
        if self._plan is not None:
            raise PipelineStateError(
                "Pipeline.set_outputs: must be called before the pipeline is built (it is built)."
            )
        nodes = [output_node(value, cast("Pipeline", self)) for value in outputs]
        self._outputs = [
            graph_output(number, value, self._graph) for number, value in enumerate(nodes)
        ]

    def add_sink(self, edge: DataNode) -> None:
        """Compute a value in any case, even if no output depends on it.

        Parameters
        ----------
        edge : DataNode
            Result of an operator.
        """
        if self._plan is not None:
            raise PipelineStateError(
                "Pipeline.add_sink: must be called before the pipeline is built (it is built)."
            )
        value = graph_value("edge of add_sink", edge, self._graph)
        value.source.arguments["preserve"] = True

    def _make_plan(self) -> ExecutionPlan:
        if self._plan is not None:
            return self._plan
        outputs = self._define()
        if not self._batch_size:
            raise ArgumentValueError(
                f"Pipeline made at {self._location}: batch_size must be given (got none). Pass "
                "batch_size=..."
            )
        self._expected.check_count(len(outputs))
        self._plan = make_plan(outputs, self._graph.nodes, optimize=self._optimize)
        self._graph.is_built = True
        _warn_of_unused(self._live_nodes, outputs)
        if self._enable_memory_stats:
            self._memory = MemoryStatistics(self._plan)
        return self._plan

    def _define(self) -> list[DataNode]:
        """Define the graph, if that has not been done yet, and give its outputs."""
        if self._outputs is None:
            with self:
                result = self.define_graph()
            self.set_outputs(*(result if isinstance(result, (tuple, list)) else (result,)))
        assert self._outputs is not None
        if not self._outputs:
            raise NoOutputsError(
                f"Pipeline made at {self._location}: must have an output (got none). Return or set "
                "at least one."
            )
        return self._outputs

    @property
    def _live_nodes(self) -> list[OperatorNode]:
        assert self._plan is not None
        return [entry.node for stage in self._plan.stages for entry in stage.nodes]


def _warn_of_unused(nodes: Sequence[OperatorNode], outputs: Sequence[DataNode]) -> None:
    """Warn of data that a source in Python makes for nothing."""
    used = {value for node in nodes for value in node.dependencies} | set(outputs)
    for node in nodes:
        unused = [str(value.index) for value in node.outputs if value not in used]
        if node.spec.is_source and node.arguments.get("source") is not None and unused:
            warn_user(
                f"{node.where}: outputs {', '.join(unused)} of {len(node.outputs)} are not used. "
                "The source need not compute them.",
                UserWarning,
            )
