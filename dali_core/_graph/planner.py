"""Turns a graph into stages: sample programs for native threads, and steps in Python.

Nodes that no output needs are dropped. A sample program holds all native operators of one depth, so
between reading a file and the batch buffer there is no barrier; a step in Python needs the whole
batch, ends one program and starts the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dali_core._graph.node import DataNode, OperatorNode


@dataclass
class PlannedNode:
    """A node with the numbers of the values that it reads and writes.

    `releases` lists the values that nobody needs after it.
    """

    node: OperatorNode
    inputs: list[int]
    arguments: list[int]
    outputs: list[int]
    releases: list[int] = field(default_factory=list)


@dataclass
class PlannedStage:
    """Nodes that run without a barrier between them; a single one if it runs in Python."""

    nodes: list[PlannedNode]
    in_python: bool


@dataclass
class ExecutionPlan:
    """Stages in their order, and the values that the pipeline gives out."""

    stages: list[PlannedStage]
    outputs: list[int]
    num_values: int

    def describe(self) -> str:
        """List stages and operators, one line each."""
        lines = []
        for number, stage in enumerate(self.stages):
            lines.append(
                f"stage {number}: {'Python step' if stage.in_python else 'sample program'}"
            )
            lines += [
                f"  fn.{planned.node.spec.name} ({planned.node.name})" for planned in stage.nodes
            ]
        return "\n".join(lines)


def make_plan(outputs: Sequence[DataNode], nodes: Iterable[OperatorNode] = ()) -> ExecutionPlan:
    """Plan how to compute some values.

    Parameters
    ----------
    outputs : sequence of DataNode
        The values wanted.
    nodes : iterable of OperatorNode
        All operators of the pipeline; those with ``preserve=True`` are kept in any case.

    Returns
    -------
    ExecutionPlan
        The stages.
    """
    kept = [node for node in nodes if node.arguments.get("preserve")]
    live = _live_nodes([*outputs, *(value for node in kept for value in node.outputs)], kept)
    values = {
        value: number
        for number, value in enumerate(value for node in live for value in node.outputs)
    }
    planned = [
        PlannedNode(
            node,
            [values[value] for value in node.inputs],
            [values[value] for value in node.tensor_arguments.values()],
            [values[value] for value in node.outputs],
        )
        for node in live
    ]
    stages = _stages(planned)
    results = [values[value] for value in outputs]
    _release_early(stages, keep=set(results))
    return ExecutionPlan(stages, results, len(values))


def _live_nodes(values: Sequence[DataNode], nodes: Sequence[OperatorNode]) -> list[OperatorNode]:
    """All nodes that the given ones need, in the order of their calls."""
    found = set(nodes)
    waiting = [*(value.source for value in values), *nodes]
    while waiting:
        node = waiting.pop()
        found.add(node)
        waiting += [value.source for value in node.dependencies if value.source not in found]
    return sorted(found, key=lambda node: node.index)


def _stages(planned: Sequence[PlannedNode]) -> list[PlannedStage]:
    in_python = {entry.node: entry.node.spec.python_step is not None for entry in planned}
    # A step without inputs decides how many samples the batch has: it runs before everything else.
    sets_size = any(python and not node.dependencies for node, python in in_python.items())
    depths: dict[OperatorNode, int] = {}
    for entry in planned:
        node = entry.node
        depth = int(sets_size and not in_python[node])
        for value in node.dependencies:
            source = value.source
            both_native = not in_python[node] and not in_python[source]
            depth = max(depth, depths[source] + (0 if both_native else 1))
        depths[node] = depth
    stages = []
    for depth in range(max(depths.values(), default=-1) + 1):
        here = [entry for entry in planned if depths[entry.node] == depth]
        stages += [PlannedStage([entry], True) for entry in here if in_python[entry.node]]
        native = [entry for entry in here if not in_python[entry.node]]
        if native:
            stages.append(PlannedStage(native, False))
    return stages


def _release_early(stages: Sequence[PlannedStage], keep: set[int]) -> None:
    """Note for each value the last node that touches it."""
    last: dict[int, PlannedNode] = {}
    for stage in stages:
        for entry in stage.nodes:
            for value in (*entry.inputs, *entry.arguments, *entry.outputs):
                last[value] = entry
    for value, entry in last.items():
        if value not in keep:
            entry.releases.append(value)
