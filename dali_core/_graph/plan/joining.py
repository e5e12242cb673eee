"""Operators that join samples of a batch: which parts of a graph have samples, which rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dali_core._graph.node import DataNode, OperatorNode
from dali_core.errors import GraphError


def joins(node: OperatorNode) -> bool:
    """Return whether an operator joins the samples of a batch."""
    step = node.spec.python_step
    return step is not None and step.joins_samples


def numbers_of_joins(
    nodes: Iterable[OperatorNode], outputs: Sequence[DataNode]
) -> dict[OperatorNode, int]:
    """Return how often samples were joined before the outputs of each operator.

    Parameters
    ----------
    nodes : iterable of OperatorNode
        All that run, each behind its dependencies.
    outputs : sequence of DataNode
        What the pipeline returns.

    Raises
    ------
    GraphError
        If samples and rows meet, or if samples are joined twice.
    """
    nodes = list(nodes)
    numbers: dict[OperatorNode, int] = {}
    joined_by: dict[int, OperatorNode] = {}
    for node in nodes:
        found = {numbers[source] for source in _sources(node) if source in numbers}
        if len(found) > 1:
            raise GraphError(
                f"{node.where}: inputs must be samples, or else rows in which they were joined "
                f"(got both). {_advice(joined_by)}"
            )
        if joins(node):
            number = max(found, default=0) + 1
            other = joined_by.setdefault(number, node)
            if node.conditions or other is not node:
                reason = f"by {other.where}, too" if other is not node else "in a branch"
                raise GraphError(
                    f"{node.where}: the samples of a batch must be joined once, for all outputs "
                    f"(they are {reason}). {_advice(joined_by)}"
                )
            numbers[node] = number
        elif found or node.spec.is_source:
            numbers[node] = max(found, default=0)
    found = {numbers[value.source] for value in outputs if value.source in numbers}
    if len(found) > 1:
        raise GraphError(
            "Pipeline: outputs must all be samples, or else rows in which they were joined (got "
            f"both). {_advice(joined_by)}"
        )
    _place_others(nodes, outputs, numbers, max(found, default=0))
    return numbers


def _place_others(
    nodes: Sequence[OperatorNode],
    outputs: Sequence[DataNode],
    numbers: dict[OperatorNode, int],
    last: int,
) -> None:
    """Let what depends on no data come just before it is used."""
    used: dict[OperatorNode, set[int]] = {value.source: {last} for value in outputs}
    for node in reversed(nodes):
        if node not in numbers:
            found = used.get(node, {0})
            if len(found) > 1 and node.spec.random:
                raise GraphError(
                    f"{node.where}: random numbers must be used with samples, or else with rows in "
                    "which they were joined (got both). Call the operator once for each."
                )
            numbers[node] = min(found)
        needed = numbers[node] - int(joins(node))
        for source in _sources(node):
            used.setdefault(source, set()).add(needed)


def _sources(node: OperatorNode) -> list[OperatorNode]:
    return [value.source for value in node.dependencies]


def _advice(joined_by: dict[int, OperatorNode]) -> str:
    names = ", ".join(node.where for node in joined_by.values())
    return f"Pass everything that belongs to the samples through one call: {names}."
