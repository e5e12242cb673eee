"""Finds out where values of branches end up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dali_core._graph.node import Condition, DataNode, OperatorNode


def find_joined(
    output: DataNode, nodes: Sequence[OperatorNode], outputs: Sequence[DataNode]
) -> list[DataNode]:
    """Find the values that become an output where branches join.

    They may be written to the place of the output: each is made only for the samples that take its
    branch, and has no other reader.

    Parameters
    ----------
    output : DataNode
        An output of the pipeline.
    nodes : sequence of OperatorNode
        All operators that run.
    outputs : sequence of DataNode
        All outputs.

    Returns
    -------
    list of DataNode
        The values; none if the output does not come from branches.
    """
    if not output.source.spec.joins:
        return []
    uses = Counter(id(value) for node in nodes for value in node.dependencies)
    uses.update(map(id, outputs))
    found: list[DataNode] = []
    waiting = [output]
    while waiting:
        value = waiting.pop()
        if uses[id(value)] != 1 or not value.source.spec.joins:
            continue
        predicate, *sides = value.source.inputs
        for side, wanted in zip(sides, (True, False), strict=True):
            is_made_here = _is_branch(side, value.source, predicate, wanted)
            if is_made_here and uses[id(side)] == 1:
                found.append(side)
                waiting.append(side)
    return found


def _is_branch(value: DataNode, joining: OperatorNode, predicate: DataNode, wanted: bool) -> bool:
    """Return whether a value is made only for the samples on one side of a branch."""
    return value.source.conditions == (*joining.conditions, Condition(predicate, wanted))
