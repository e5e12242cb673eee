"""Writes a graph in the DOT language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dali_core._graph.node import DataNode, OperatorNode
from dali_core._messages import printable

_COLOURS = {True: "#f4d58d", False: "#bfd7ea"}


def to_dot(
    nodes: Iterable[OperatorNode],
    outputs: Sequence[DataNode],
    *,
    show_tensors: bool = False,
    show_ids: bool = False,
    use_colors: bool = False,
) -> str:
    """Describe a graph in DOT.

    Parameters
    ----------
    nodes : iterable of OperatorNode
        Operators of the pipeline.
    outputs : sequence of DataNode
        What the pipeline returns.
    show_tensors : bool
        Draw the values between the operators, too.
    show_ids : bool
        Add each operator's number.
    use_colors : bool
        Tell operators that run in Python from native ones by colour.

    Returns
    -------
    str
        A ``digraph``.
    """
    lines = ["digraph pipeline {", "  rankdir=TB;", "  node [shape=box, fontname=sans];"]
    edges = []
    for node in nodes:
        label = (
            node.operator if node.arguments.get("name") is None else f"{node.operator}\n{node.name}"
        )
        if show_ids:
            label = f"{node.index}: {label}"
        style = ""
        if use_colors:
            style = f', style=filled, fillcolor="{_COLOURS[node.spec.python_step is not None]}"'
        lines.append(f"  op{node.index} [label={_quoted(label)}{style}];")
        if show_tensors:
            for value in node.outputs:
                lines.append(f"  {_tensor(value)} [label={_quoted(value.name)}, shape=ellipse];")
                edges.append(f"  op{node.index} -> {_tensor(value)};")
        for value in node.inputs:
            edges.append(f"  {_from(value, show_tensors)} -> op{node.index};")
        for name, value in node.tensor_arguments.items():
            edges.append(
                f"  {_from(value, show_tensors)} -> op{node.index} "
                f"[label={_quoted(name)}, style=dashed];"
            )
        for condition in node.conditions:
            label = "if" if condition.wanted else "if not"
            edges.append(
                f"  {_from(condition.predicate, show_tensors)} -> op{node.index} "
                f"[label={_quoted(label)}, style=dotted];"
            )
    for number, value in enumerate(outputs):
        lines.append(f'  out{number} [label="output {number}", shape=plaintext];')
        edges.append(f"  {_from(value, show_tensors)} -> out{number};")
    return "\n".join([*lines, *edges, "}", ""])


def _from(value: DataNode, show_tensors: bool) -> str:
    return _tensor(value) if show_tensors else f"op{value.source.index}"


def _tensor(value: DataNode) -> str:
    return f"t{value.source.index}_{value.index}"


def _quoted(text: str) -> str:
    lines = (
        printable(line).replace("\\", "\\\\").replace('"', '\\"') for line in text.split("\n", 1)
    )
    return '"' + "\\n".join(lines) + '"'
