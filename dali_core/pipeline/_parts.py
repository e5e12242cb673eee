"""The parts that a pipeline consists of, and the definition of its graph."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from dali_core._call.location import user_location
from dali_core._graph.context import current_definition, pop_definition, push_definition
from dali_core._graph.node import DataNode
from dali_core.errors import ArgumentTypeError, NoOutputsError, PipelineStateError
from dali_core.pipeline._closing import Closing
from dali_core.pipeline._graph_definition import GraphDefinition
from dali_core.pipeline._hooks import Hooks
from dali_core.pipeline._inputs import PipelineInputs
from dali_core.pipeline._options import PipelineOptions
from dali_core.pipeline._run import PipelineRun
from dali_core.pipeline.states import PipelineStates

if TYPE_CHECKING:
    from typing_extensions import Self

    from dali_core.pipeline._pipeline import Pipeline


class PipelineParts:
    """The methods of `Pipeline` that define its graph, and one part for each thing that it does.

    Parameters
    ----------
    given : dict
        The arguments of `Pipeline`.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._closing = Closing(self)
        self._assemble(given)

    def _assemble(self, given: Mapping[str, Any]) -> None:
        """Make the parts, in place of those that there may be, which are closed."""
        has_setup = type(self).iter_setup is not PipelineParts.iter_setup
        options, hooks = PipelineOptions(given), Hooks(self, has_setup)
        self._options = options
        self._definition = GraphDefinition(options, hooks, user_location())
        self._run = PipelineRun(options, self._definition, hooks, self._closing)
        self._states = PipelineStates(options, self._definition, hooks, self._run)
        self._inputs = PipelineInputs(options, self._definition, hooks, self._states)

    def __enter__(self) -> Self:
        push_definition(self, self._definition.graph)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        pop_definition()

    def define_graph(self) -> Any:
        """Define the graph: override this to call operators and return the outputs.

        Returns
        -------
        DataNode or sequence of DataNode
            The outputs.
        """
        raise NoOutputsError(
            f"Pipeline made at {self._definition.graph.location}: has no outputs. Override "
            "define_graph, call set_outputs, or use @pipeline_def."
        )

    def iter_setup(self) -> None:
        """Prepare an iteration: override this to call `feed_input`, or to raise StopIteration."""

    @staticmethod
    def current() -> Pipeline | None:
        """Return the pipeline that is being defined in this thread."""
        pipeline: Pipeline | None = current_definition()[0]
        return pipeline

    @staticmethod
    def push_current(pipeline: Pipeline) -> None:
        """Begin to define a pipeline in this thread, as ``with pipeline:`` does.

        Parameters
        ----------
        pipeline : Pipeline
            Operators called from now on belong to it, until `pop_current`.
        """
        if not isinstance(pipeline, PipelineParts):
            raise ArgumentTypeError(
                f"Pipeline.push_current: pipeline must be a Pipeline (got {pipeline!r})."
            )
        push_definition(pipeline, pipeline._definition.graph)

    @staticmethod
    def pop_current() -> None:
        """End what the last `push_current` began; the pipeline before it is current again."""
        if current_definition()[0] is None:
            raise PipelineStateError(
                "Pipeline.pop_current: a pipeline must be current (none is). Call push_current "
                "first, or use `with pipeline:`."
            )
        pop_definition()

    def set_outputs(self, *outputs: Any) -> None:
        """Set the outputs of the pipeline.

        Parameters
        ----------
        *outputs : DataNode
            Results of operators. Those of operators that were called outside of pipelines, or in
            one that was never built, are computed in this one, too. Numbers, lists and arrays
            become constants.
        """
        self._definition.set_outputs(outputs)

    def add_sink(self, edge: DataNode) -> None:
        """Compute a value in any case, even if no output depends on it.

        Parameters
        ----------
        edge : DataNode
            Result of an operator.
        """
        self._definition.add_sink(edge)

    def build(self) -> None:
        """Check and plan the graph, and start the native threads. Called by need.

        With a reader that has `lazy_init`, the threads start and its files are listed only when a
        batch or the size of an epoch is requested.
        """
        self._states.start_eagerly()
