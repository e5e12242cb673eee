"""`nvidia.dali.fn._conditional`: the operators that decisions on data consist of."""

from __future__ import annotations

from typing import Any

from dali_core import fn
from dali_core._graph.node import DataNode
from dali_core.pipeline.conditionals.logic import negation
from dali_core.pipeline.conditionals.merging import merge_nodes
from dali_core.pipeline.conditionals.split import Split
from dali_core.pipeline.conditionals.split import predicate as truth


def split(data: Any, /, *, predicate: DataNode, **_: Any) -> list[DataNode]:
    """Return the samples for which a scalar is true, and those for which it is false.

    Operators on either run for these samples only. `merge` joins both.
    """
    both = Split(_same_truth(predicate), is_inherited=True)
    sides = []
    for side in (True, False):
        with both.side(side):
            sides.append(fn.copy(data))
    return sides


def merge(yes: Any, no: Any, /, *, predicate: DataNode, **_: Any) -> DataNode:
    """Return what was computed from the two sides of `split` by the same scalars."""
    return merge_nodes(Split(_same_truth(predicate)), yes, no, any_scope=True)


def not_(data: DataNode, /, **_: Any) -> DataNode:
    """Return the opposite of scalars, as booleans."""
    opposite: DataNode = negation(data)
    return opposite


def validate_logical(data: DataNode, /, *, expression_name: str, **_: Any) -> DataNode:
    """Return scalars of booleans; others are refused when the pipeline runs."""
    return truth(data, expression_name)


def _same_truth(scalars: DataNode) -> DataNode:
    """Return the truth values of scalars: the same ones for all calls, as sides have them."""
    values = truth(scalars, "if")
    before = (
        node
        for node in values.owner.nodes  # type: ignore[attr-defined]
        if node.spec is values.source.spec
        and node.inputs[0] is values.source.inputs[0]
        and node.arguments == values.source.arguments
    )
    first: DataNode = next(before).outputs[0]
    return first
