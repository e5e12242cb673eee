"""The graph of a pipeline: how it is defined, and the plan of how to run it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dali_core._call.location import warn_user
from dali_core._execution.readers import mixture_of
from dali_core._graph.element_types import warn_of_remarks
from dali_core._graph.graph import Graph
from dali_core._graph.node import DataNode, OperatorNode
from dali_core._graph.plan.execution_plan import ExecutionPlan
from dali_core._graph.plan.planner import make_plan
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    GraphError,
    NoOutputsError,
    PipelineStateError,
)
from dali_core.pipeline._hooks import Hooks
from dali_core.pipeline._options import PipelineOptions
from dali_core.pipeline._outputs import graph_output, graph_value, output_node


class GraphDefinition:
    """A graph in the making, its outputs and, once it is complete, its plan.

    Parameters
    ----------
    options : PipelineOptions
        Batch size, what is expected of the outputs, and whether to fuse.
    hooks : Hooks
        Define the graph where nothing else does.
    location : str
        Where the pipeline was made, for messages.

    Attributes
    ----------
    graph : Graph
        The operators.
    outputs : list of DataNode or None
        The outputs of the pipeline; None until they are set.
    plan : ExecutionPlan or None
        How to run it; None as long as the graph may change.
    """

    def __init__(self, options: PipelineOptions, hooks: Hooks, location: str) -> None:
        self._options = options
        self._hooks = hooks
        self.graph = Graph(location, replaces_failed=options.replaces_failed)
        self.outputs: list[DataNode] | None = None
        self.plan: ExecutionPlan | None = None

    def set_outputs(self, values: Sequence[Any]) -> None:
        """Choose the outputs; see `Pipeline.set_outputs`."""
        self._check_changeable("set_outputs")
        with self._hooks.pipeline:
            nodes = [output_node(value) for value in values]
        self.outputs = [
            graph_output(number, value, self.graph) for number, value in enumerate(nodes)
        ]

    def add_sink(self, edge: DataNode) -> None:
        """Compute a value in any case; see `Pipeline.add_sink`."""
        self._check_changeable("add_sink")
        value = graph_value("edge of add_sink", edge, self.graph)
        value.source.arguments["preserve"] = True

    def define_by(self, define_graph: Callable[[], Any]) -> None:
        """Define the graph by what `Pipeline.serialize` was given."""
        if not callable(define_graph):
            raise ArgumentTypeError(
                f"Pipeline.serialize: define_graph must be callable (got {define_graph!r}). Pass a "
                "file as filename=..."
            )
        if self.outputs is not None:
            raise GraphError(
                "Pipeline.serialize: define_graph must be left out if the graph is defined already "
                "(it is)."
            )
        with self._hooks.pipeline:
            result = define_graph()
        self._set_returned(result)

    def define(self) -> list[DataNode]:
        """Define the graph, if that has not been done yet, and return its outputs."""
        if self.outputs is None:
            self._set_returned(self._hooks.define_graph())
        assert self.outputs is not None
        if not self.outputs:
            raise NoOutputsError(
                f"Pipeline made at {self.graph.location}: must have an output (got none). Return "
                "or set at least one."
            )
        return self.outputs

    def pad_epochs(self) -> bool:
        """Have all readers pad their epochs to whole batches, unless the pipeline is built.

        Returns
        -------
        bool
            Whether there were some that did not.
        """
        if self.plan is not None:
            return False
        unpadded = [node for node in self._leading_readers if not node.arguments["pad_last_batch"]]
        for node in unpadded:
            node.arguments["pad_last_batch"] = True
        return bool(unpadded)

    @property
    def has_readers(self) -> bool:
        """Whether data comes from a reader."""
        return bool(self._leading_readers)

    @property
    def _leading_readers(self) -> list[OperatorNode]:
        """The readers whose samples are not those that a mixture chooses."""
        self.define()
        reading = [node for node in self.graph.nodes if node.spec.reader is not None]
        return [node for node in reading if mixture_of(node) is None]

    @property
    def has_sources(self) -> bool:
        """Whether data comes from Python, the end of which may end an epoch."""
        self.define()
        return self._hooks.has_setup or any(
            node.spec.python_step is not None and node.spec.reader is None and not node.dependencies
            for node in self.graph.nodes
        )

    def make_plan(self) -> ExecutionPlan:
        """Complete the graph, and return its plan."""
        if self.plan is not None:
            return self.plan
        outputs = self.define()
        if not self._options.batching.largest:
            raise ArgumentValueError(
                f"Pipeline made at {self.graph.location}: batch_size must be given (got none). "
                "Pass batch_size=..."
            )
        self._options.expected.check_count(len(outputs))
        self.plan = make_plan(outputs, self.graph.nodes, optimize=self._options.optimize)
        self.graph.is_built = True
        _warn_of_unused(self.live_nodes, outputs)
        warn_of_remarks(self.live_nodes)
        return self.plan

    @property
    def live_nodes(self) -> list[OperatorNode]:
        """The operators in the plan."""
        plan = self.make_plan()
        entries = [entry for stage in plan.stages for entry in stage.nodes]
        return [entry.node for entry in (*plan.parameters, *entries)]

    def _set_returned(self, result: Any) -> None:
        self.set_outputs(result if isinstance(result, (tuple, list)) else (result,))

    def _check_changeable(self, method: str) -> None:
        if self.plan is not None:
            raise PipelineStateError(
                f"Pipeline.{method}: must be called before the pipeline is built (it is built)."
            )


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
