"""Data that the program hands to a pipeline, batch by batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dali_core._execution.runner import Runner
from dali_core._graph.graph import Graph
from dali_core._graph.node import DataNode
from dali_core.errors import (
    ArgumentTypeError,
    PipelineStateError,
    UnknownInputError,
)


class PipelineInputs:
    """The part of `Pipeline` that feeds `external_source` operators without a source."""

    _depth: int
    _graph: Graph
    _is_replaying: bool

    if TYPE_CHECKING:

        def _start(self) -> Runner: ...

    def feed_input(
        self,
        data_node: DataNode | str,
        data: Any,
        layout: str | None = None,
        cuda_stream: Any = None,
        use_copy_kernel: bool = False,
    ) -> None:
        """Hand over a batch to an `external_source` that has no source of its own.

        Parameters
        ----------
        data_node : DataNode or str
            Output of the operator, or its name.
        data : list of arrays, array, TensorListCPU or TensorListGPU
            The samples. They are copied: the memory may be used again at once, or, on a GPU, by
            what comes later in the stream. Only an `external_source` with ``device="gpu"`` takes
            data on a GPU, such as tensors of PyTorch.
        layout : str, optional
            Layout of each sample. Without one it is that of the data.
        cuda_stream : object, optional
            For data on a GPU: the stream that works on it; see `fn.external_source`.
        use_copy_kernel : bool
            Accepted without effect: batches are copied in one.

        Raises
        ------
        UnknownInputError
            If the outputs depend on no such operator.
        """
        if self._is_replaying:
            return
        if not isinstance(data_node, (DataNode, str)):
            raise ArgumentTypeError(
                f"Pipeline.feed_input: data_node must be a DataNode or a str (got {data_node!r}). "
                "Pass the result of fn.external_source, or its name."
            )
        if isinstance(data_node, DataNode):
            value = self._graph.find(data_node)
            if value.source.spec.role == "to device":
                (value,) = value.source.inputs
            data_node = value.name
        step, output = self._find_input("feed_input", data_node)
        step.feed(data, layout or "", cuda_stream, output)

    def input_feed_count(self, input_name: str) -> int:
        """Tell how many batches must be fed to an input before the first `run`.

        Parameters
        ----------
        input_name : str
            Name of an `external_source`.

        Raises
        ------
        UnknownInputError
            If the outputs depend on no such operator.
        """
        self._find_input("input_feed_count", input_name)
        return self._depth

    def _find_input(self, method: str, name: str) -> tuple[Any, int]:
        """Find the step of an `external_source`, and which of its outputs has the name."""
        runner = self._start()
        if runner.executor.closed:
            raise PipelineStateError(
                f"Pipeline.{method}: must be open (it was closed). Build a new one."
            )
        inputs = {
            value.name: (step, value.index)
            for node, step in runner.steps.items()
            if hasattr(step, "feed")
            for value in node.outputs
        }
        if name not in inputs:
            raise UnknownInputError(
                f"Pipeline.{method}: must name an external_source that the outputs depend on (got "
                f"{name!r}). There are: {', '.join(map(repr, inputs)) or 'none'}."
            )
        return inputs[name]

    def _feed_inputs(self, inputs: Mapping[str, Any]) -> None:
        """Feed what was passed to `run` by name."""
        if self._depth != 1:
            raise PipelineStateError(
                "Pipeline.run: inputs may be passed only if no batch is computed ahead (got "
                f"{', '.join(inputs)}, with prefetch_queue_depth={self._depth}). Pass "
                "prefetch_queue_depth=1 or exec_pipelined=False to the Pipeline, or use feed_input."
            )
        # All are looked up first, so that a wrong name leaves nothing fed.
        steps = {name: self._find_input("run", name) for name in inputs}
        for name, (step, output) in steps.items():
            step.feed(inputs[name], "", output=output)
