"""Source steps, and those of them that are called by the thread that runs the pipeline.

Programs rely on it that what their sources read changes between two calls of `run` only: so sources
are called inside of `run`, in its thread, and as far ahead as batches are started. What calls no
code of the program (data that was fed, results of workers) is taken in the thread of the steps.
"""

from __future__ import annotations

from collections.abc import Mapping

from dali_core._execution.instantiation import make_step
from dali_core._graph.node import OperatorNode
from dali_core._graph.plan.execution_plan import ExecutionPlan, PlannedNode, StageKind
from dali_core._readers.order import IndexSampler
from dali_core._runtime.step import Step


def is_source(entry: PlannedNode) -> bool:
    """Return whether a step in Python takes data from outside of the pipeline."""
    return not entry.inputs and not entry.arguments


def steps_of(
    plan: ExecutionPlan,
    made: Mapping[OperatorNode, Step],
    readers: Mapping[OperatorNode, IndexSampler],
) -> dict[int, tuple[PlannedNode, Step]]:
    """Return the steps in Python of a plan by the numbers of their stages.

    Parameters
    ----------
    plan : ExecutionPlan
        The plan. Sources at its beginning are put into the order in which they run: those that
        take what was fed come last, since they may have to wait for it.
    made : dict of OperatorNode to Step
        Steps to use; the others are made.
    readers : dict of OperatorNode to IndexSampler
        The readers, whose data sets are handed to the steps that take their indices.
    """
    found = [stage for stage in plan.stages if stage.kind is StageKind.PYTHON]
    steps = {
        stage.nodes[0].node: made.get(stage.nodes[0].node) or make_step(stage.nodes[0].node)
        for stage in found
    }
    for node, step in steps.items():
        for value in node.inputs if node.spec.hands_to_reader else ():
            if value.source in readers:
                step.use_source(readers[value.source].source)
    first = [stage for stage in found if not stage.nodes[0].node.dependencies]
    plan.stages[: len(first)] = sorted(first, key=lambda stage: steps[stage.nodes[0].node].is_fed)
    return {
        number: (stage.nodes[0], steps[stage.nodes[0].node])
        for number, stage in enumerate(plan.stages)
        if stage.kind is StageKind.PYTHON
    }


def sources_to_call(sources: Mapping[int, Step]) -> set[int]:
    """Return the numbers of the sources that the thread which runs the pipeline calls.

    If there are any, it also collects what workers have made, for all sources end together.
    """
    called = {number for number, step in sources.items() if not step.is_fed}
    is_any_plain = any(not sources[number].is_parallel for number in called)
    return called if is_any_plain else set()
