"""Fingerprints of graphs, with which another graph refuses a saved state."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from dali_core._graph.node import DataNode, OperatorNode
from dali_core._messages import shown
from dali_core.operators.internal_operators import FORMER_IDENTITIES


def describe_graph(nodes: Sequence[OperatorNode], outputs: Sequence[DataNode]) -> dict[str, Any]:
    """Describe which operators a graph has and how they are connected.

    Arguments are left out: images may get larger in the course of a training, and data may move.

    Parameters
    ----------
    nodes : sequence of OperatorNode
        Operators that the outputs need.
    outputs : sequence of DataNode
        What the pipeline returns.

    Returns
    -------
    dict
        Names of the ``operators`` in the order of their calls, and a hash of the ``wiring``.
    """
    ordered = sorted(nodes, key=lambda node: node.index)
    number = {node: index for index, node in enumerate(ordered)}

    def place(value: DataNode) -> str:
        return f"{number[value.source]}.{value.index}"

    wiring = [
        " ".join(
            [
                *map(place, node.inputs),
                *(f"{name}={place(value)}" for name, value in node.tensor_arguments.items()),
                *(
                    f"{'if' if condition.wanted else 'if not'} {place(condition.predicate)}"
                    for condition in node.conditions
                ),
            ]
        )
        for node in ordered
    ]
    text = "\n".join([*wiring, *map(place, outputs)])
    return {
        "operators": [node.spec.name for node in ordered],
        "wiring": hashlib.sha256(text.encode()).hexdigest()[:16],
    }


def explain_difference(saved: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """Return how two graphs differ, of which one may be anything; "" if they do not."""
    before, now = saved.get("operators"), here["operators"]
    if not isinstance(before, list):
        return f"its operators must be a list, and are {shown(before)}"
    for index, (saved_name, new) in enumerate(zip(before, now, strict=False)):
        old = (
            FORMER_IDENTITIES.get(saved_name, saved_name)
            if isinstance(saved_name, str)
            else saved_name
        )
        if old != new:
            was = f"fn.{old}" if isinstance(old, str) else shown(old)
            return f"operator {index} is fn.{new} here, and was {was}"
    if len(before) != len(now):
        return f"there are {len(now)} operators here, and were {len(before)}"
    if saved.get("wiring") != here["wiring"]:
        return "the same operators are connected in another way"
    return ""
