"""The parts that a pipeline consists of."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from dali_core._call.location import user_location
from dali_core._graph.context import pop_definition, push_definition
from dali_core.errors import NoOutputsError
from dali_core.pipeline._closing import Closing
from dali_core.pipeline._graph_definition import GraphDefinition
from dali_core.pipeline._hooks import Hooks
from dali_core.pipeline._inputs import PipelineInputs
from dali_core.pipeline._options import PipelineOptions
from dali_core.pipeline._run import PipelineRun
from dali_core.pipeline.states import PipelineStates

if TYPE_CHECKING:
    from typing_extensions import Self


class PipelineParts:
    """One part for each thing that a pipeline does; the public methods pass calls on to them.

    The methods are in a class for each topic, next to each other over this one: none of them knows
    another, and `Pipeline` has them all.

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
