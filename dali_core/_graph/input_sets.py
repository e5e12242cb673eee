"""Lists of nodes as inputs: one call of an operator for each of their entries."""

from __future__ import annotations

from typing import Any

from dali_core._graph.node import DataNode
from dali_core.errors import ArgumentTypeError, ArgumentValueError


def input_sets(inputs: tuple[Any, ...], where: str) -> list[tuple[Any, ...]]:
    """Return the inputs of each call that lists of nodes stand for.

    Parameters
    ----------
    inputs : tuple
        Positional inputs of a call. What is no list of nodes belongs to each of the calls.
    where : str
        The call, for messages.

    Returns
    -------
    list of tuple
        Inputs of each call; empty if there is no list of nodes.

    Raises
    ------
    ArgumentTypeError
        If a list holds nodes and other things.
    ArgumentValueError
        If lists have different lengths.
    """
    lists = [value for value in inputs if _holds_nodes(value)]
    for value in lists:
        others = [entry for entry in value if not isinstance(entry, DataNode)]
        if others or not isinstance(value, list):
            what = f"a {type(others[0]).__name__} among them" if others else "a tuple"
            raise ArgumentTypeError(
                f"{where}: several inputs in one must be a list of DataNodes (got {what}). Pass "
                "inputs by position, each for itself."
            )
    lengths = {len(value) for value in lists}
    if len(lengths) > 1:
        raise ArgumentValueError(
            f"{where}: lists of inputs must have the same length (got {sorted(lengths)}). Pass as "
            "many nodes in each."
        )
    return [
        tuple(value[i] if _holds_nodes(value) else value for value in inputs)
        for i in range(lengths.pop() if lengths else 0)
    ]


def _holds_nodes(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(item, DataNode) for item in value)
