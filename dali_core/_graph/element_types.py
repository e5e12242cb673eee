"""Element types of values that are known when a graph is defined, and remarks based on them."""

from __future__ import annotations

from collections.abc import Sequence

from dali_core._call.location import warn_user
from dali_core._data_types import DALIDataType
from dali_core._graph.node import DataNode, OperatorNode


def known_type(value: DataNode) -> DALIDataType | None:
    """Return the element type of a value as arguments and descriptions of operators define it.

    Returns
    -------
    DALIDataType or None
        None where it depends on the data.
    """
    while True:
        if value.index != 0:  # arguments and descriptions are about the first output
            return None
        node = value.source
        given = node.arguments.get("dtype")
        if isinstance(given, DALIDataType):
            return given
        inputs = node.inputs[1:] if node.spec.joins else node.inputs
        if not (node.spec.keeps_type or node.spec.joins) or not inputs:
            return None
        value = inputs[0]


def warn_of_remarks(nodes: Sequence[OperatorNode]) -> None:
    """Warn of uses of operators that are probably mistakes."""
    for node in nodes:
        if node.spec.remark is None or not node.inputs:
            continue
        found = known_type(node.inputs[0])
        text = "" if found is None else node.spec.remark(node.arguments, found.name)
        if text:
            warn_user(f"{node.where}: {text}", UserWarning)
