"""Data that the program hands to a pipeline, batch by batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dali_core._graph.node import DataNode
from dali_core._runtime.step import FedStep
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    PipelineStateError,
    UnknownInputError,
)
from dali_core.pipeline._graph_definition import GraphDefinition
from dali_core.pipeline._hooks import Hooks
from dali_core.pipeline._options import PipelineOptions
from dali_core.pipeline.states import PipelineStates


class PipelineInputs:
    """Feeds `external_source` operators without a source.

    Parameters
    ----------
    options : PipelineOptions
        How many batches are in flight.
    definition : GraphDefinition
        Has the operators.
    hooks : Hooks
        Know whether data is needed.
    states : PipelineStates
        Start the run.

    Attributes
    ----------
    unfinished : sequence of FedStep
        What was fed for a call of `run` that has not returned.
    """

    def __init__(
        self,
        options: PipelineOptions,
        definition: GraphDefinition,
        hooks: Hooks,
        states: PipelineStates,
    ) -> None:
        self._options = options
        self._definition = definition
        self._hooks = hooks
        self._states = states
        self.unfinished: Sequence[FedStep] = ()  # fed for a `run` that has not returned

    def feed(self, data_node: DataNode | str, data: Any, layout: str, cuda_stream: Any) -> None:
        """Hand over a batch; see `Pipeline.feed_input`."""
        if self._hooks.is_replaying:
            return
        if not isinstance(data_node, (DataNode, str)):
            raise ArgumentTypeError(
                f"Pipeline.feed_input: data_node must be a DataNode or a str (got {data_node!r}). "
                "Pass the result of fn.external_source, or its name."
            )
        if isinstance(data_node, DataNode):
            value = self._definition.graph.find(data_node)
            while value.source.spec.role in ("to device", "fed"):
                value = value.source.inputs[0]
            data_node = value.name
        step, output = self._find("feed_input", data_node)
        step.feed(step.copied(data, layout, cuda_stream, output), output)

    def feed_for_run(self, inputs: Mapping[str, Any]) -> None:
        """Feed what was passed to `run` by name."""
        depth = self._options.depth
        if depth != 1:
            raise PipelineStateError(
                "Pipeline.run: inputs may be passed only if no batch is computed ahead (got "
                f"{', '.join(inputs)}, with prefetch_queue_depth={depth}). Pass "
                "prefetch_queue_depth=1 or exec_pipelined=False to the Pipeline, or use feed_input."
            )
        if self.unfinished:
            # An interrupt has ended the last such call: its data must not come in place of these.
            self._states.drop_started()
            for step in self.unfinished:
                step.discard()
        self.unfinished = [self._find("run", name)[0] for name in inputs]
        self._feed_all("run", inputs)

    def feed_batch(self, inputs: Mapping[str, Any]) -> None:
        """Feed what was passed to `schedule_batch` by name."""
        missing = [name for name in self.names if name not in inputs]
        if missing:
            raise ArgumentValueError(
                "Pipeline.schedule_batch: all inputs must be passed by their names (got none for "
                f"{', '.join(map(repr, missing))}). Pass each as an argument."
            )
        self._feed_all("schedule_batch", inputs)

    @property
    def names(self) -> list[str]:
        """The names of all inputs; see `Pipeline.input_names`."""
        return [name for name, (step, _) in self._fed_outputs().items() if step.is_fed]

    def count(self, name: str) -> int:
        """Return how many batches to feed; see `Pipeline.input_feed_count`."""
        self._find("input_feed_count", name)
        return self._options.depth

    def _feed_all(self, method: str, inputs: Mapping[str, Any]) -> None:
        # All are copied first, so that nothing is fed if one of them does not fit.
        batches = []
        for name, data in inputs.items():
            step, output = self._find(method, name)
            batches.append((step, step.copied(data, "", output=output), output))
        for step, batch, output in batches:
            step.feed(batch, output)

    def _fed_outputs(self) -> dict[str, tuple[FedStep, int]]:
        return {
            value.name: (step, value.index)
            for node, step in self._states.start().steps.items()
            if isinstance(step, FedStep)
            for value in node.outputs
        }

    def _find(self, method: str, name: str) -> tuple[FedStep, int]:
        """Find the step of an `external_source`, and which of its outputs has the name."""
        inputs = self._fed_outputs()
        if self._states.start().executor.closed:
            raise PipelineStateError(
                f"Pipeline.{method}: must be open (it was closed). Build a new one."
            )
        if name not in inputs:
            raise UnknownInputError(
                f"Pipeline.{method}: must name an external_source that the outputs depend on (got "
                f"{name!r}). There are: {', '.join(map(repr, inputs)) or 'none'}."
            )
        return inputs[name]
