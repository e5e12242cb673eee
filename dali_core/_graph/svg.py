"""Draws a graph as SVG, which notebooks and browsers show."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from html import escape

from dali_core._graph.box_placement import Box, Line, place
from dali_core._graph.node import DataNode, OperatorNode
from dali_core._graph.planner import live_nodes

_LETTER, _SMALL_LETTER = 7.3, 6.1
_ROW, _PADDING, _MARGIN = 16.0, 9.0, 12.0
_SMALLEST_WIDTH = 60.0
_FILL = {"native": "#bfd7ea", "python": "#f4d58d", "output": "#ffffff"}
_STYLE = (
    "text{font:12px monospace;text-anchor:middle;fill:#1b2733}"
    ".label{font-size:10px;stroke:#fff;stroke-width:3px;paint-order:stroke}"
    "rect{stroke:#44546a}path{fill:none;stroke:#44546a}"
    ".side{stroke-dasharray:4 3}"
)


def to_svg(nodes: Sequence[OperatorNode], outputs: Sequence[DataNode]) -> str:
    """Draw what computes some values.

    Parameters
    ----------
    nodes : sequence of OperatorNode
        Operators of the pipeline.
    outputs : sequence of DataNode
        What the pipeline returns.

    Returns
    -------
    str
        An ``<svg>`` element; the same for the same graph. Boxes are operators and outputs, colours
        tell operators that run in Python, and dashed lines are per-sample arguments and conditions.
    """
    keys: list[OperatorNode | int] = [*live_nodes(outputs, nodes), *range(len(outputs))]
    texts = {key: _text(key) for key in keys}
    entering = {key: _entering(key, outputs) for key in keys}
    boxes = {
        key: Box(
            max(
                _SMALLEST_WIDTH,
                max(map(len, texts[key])) * _LETTER + 2 * _PADDING,
                sum(_port_width(label) for _, label in entering[key]),
            ),
            len(texts[key]) * _ROW + _PADDING,
        )
        for key in keys
    }
    labels = {
        Line(boxes[value.source], boxes[key]): label
        for key in keys
        for value, label in entering[key]
    }
    lines = list(labels)
    width, height = place(list(boxes.values()), lines)
    starts, ends = _ports(labels, at_end=False), _ports(labels, at_end=True)
    shapes = [_draw_line(line, labels[line], starts[line], ends[line]) for line in lines]
    shapes += [_draw_box(key, boxes[key], texts[key]) for key in keys]
    width, height = width + 2 * _MARGIN, height + 2 * _MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="{-_MARGIN:g} {-_MARGIN:g} {width:.1f} {height:.1f}">',
            f"<style>{_STYLE}</style>",
            *shapes,
            "</svg>\n",
        ]
    )


def _text(key: OperatorNode | int) -> list[str]:
    if isinstance(key, int):
        return [f"output {key}"]
    given = key.arguments.get("name")
    return [key.operator, *([f"'{_printable(given)}'"] if given is not None else [])]


def _printable(text: str) -> str:
    """Leave out what XML has no characters for."""
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text
    )


def _entering(
    key: OperatorNode | int, outputs: Sequence[DataNode]
) -> list[tuple[DataNode, str | None]]:
    """List what enters a box, with the names of those values that are no positional inputs."""
    if isinstance(key, int):
        return [(outputs[key], None)]
    names: list[str | None] = [None] * len(key.inputs)
    names += key.tensor_arguments
    names += ["if" if condition.wanted else "if not" for condition in key.conditions]
    return list(zip(key.dependencies, names, strict=True))


def _port_width(label: str | None) -> float:
    return 2 * _PADDING + (len(label) * _SMALL_LETTER if label else 0.0)


def _ports(labels: Mapping[Line, str | None], *, at_end: bool) -> dict[Line, float]:
    """Return where along its box each line begins or ends: side by side, and without crossings."""
    groups: dict[Box, list[Line]] = {}
    for line in labels:
        groups.setdefault(line.end if at_end else line.start, []).append(line)
    places = {}
    for box, group in groups.items():
        others = {line: line.stops[-2 if at_end else 1].x for line in group}
        group.sort(key=others.__getitem__)
        widths = [_port_width(labels[line] if at_end else None) for line in group]
        x = box.x - box.width / 2
        for line, width in zip(group, widths, strict=True):
            share = width / sum(widths) * box.width
            places[line] = x + share / 2
            x += share
    return places


def _draw_line(line: Line, label: str | None, start: float, end: float) -> str:
    x, y = start, line.start.y + line.start.height / 2
    path = [f"M{x:.1f} {y:.1f}"]
    for stop in (*line.bends, line.end):
        to_x = end if stop is line.end else stop.x
        to_y = stop.y - stop.height / 2
        middle = (y + to_y) / 2
        path.append(f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}")
        x, y = to_x, to_y
    kind = "" if label is None else ' class="side"'
    drawn = [f'<path{kind} d="{" ".join(path)}"/>']
    drawn.append(f'<path d="M{x - 3:.1f} {y - 6:.1f}L{x:.1f} {y:.1f}L{x + 3:.1f} {y - 6:.1f}"/>')
    if label is not None:
        drawn.append(f'<text class="label" x="{x:.1f}" y="{y - 12:.1f}">{escape(label)}</text>')
    return "\n".join(drawn)


def _draw_box(key: OperatorNode | int, box: Box, text: Sequence[str]) -> str:
    left, top = box.x - box.width / 2, box.y - box.height / 2
    if isinstance(key, int):
        kind, title = "output", text[0]
    else:
        kind = "python" if key.spec.python_step is not None else "native"
        title = f"{key.name} at {_printable(os.path.basename(key.location))}"
    rows = [
        f'<text x="{box.x:.1f}" y="{top + _PADDING / 2 + _ROW * (number + 0.75):.1f}">'
        f"{escape(row)}</text>"
        for number, row in enumerate(text)
    ]
    radius = box.height / 2 if kind == "output" else 4.0
    parts = [
        f"<g><title>{escape(_printable(title))}</title>",
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" '
        f'rx="{radius:.1f}" fill="{_FILL[kind]}"/>',
        *rows,
        "</g>",
    ]
    return "\n".join(parts)
