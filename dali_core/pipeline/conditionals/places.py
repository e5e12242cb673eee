"""Gives nodes that are not in the source a location there, for tracebacks and debuggers."""

from __future__ import annotations

import ast
from typing import TypeVar

Node = TypeVar("Node", bound=ast.AST)


def place(node: Node, where: ast.AST) -> Node:
    """Put one node to where another one begins.

    It is on one line: Python says of a call that goes over several where its function ends.

    Parameters
    ----------
    node : ast.AST
        The node. It is changed.
    where : ast.AST
        A statement or expression of the text.

    Returns
    -------
    ast.AST
        The same node.
    """
    if "lineno" in node._attributes:
        ast.copy_location(node, where)
        node.end_lineno = node.lineno  # type: ignore[attr-defined]
        node.end_col_offset = node.col_offset  # type: ignore[attr-defined]
    return node


def place_new(node: Node, where: ast.AST) -> Node:
    """Put a node, and all nodes in it that have no place yet, to where another one begins."""
    for inner in ast.walk(node):
        if not hasattr(inner, "lineno"):
            place(inner, where)
    return node
