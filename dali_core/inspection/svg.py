"""Draws a graph as SVG, which notebooks and browsers show."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from dali_core._graph.node import DataNode, OperatorNode
from dali_core._graph.plan.planner import live_nodes
from dali_core.inspection.layered_layout import Box, Line, place

_LETTER, _SMALL_LETTER = 7.3, 6.1
_ROW, _PADDING, _MARGIN = 16.0, 9.0, 12.0
_SMALLEST_WIDTH = 60.0
_FILL = {"native": "#bfd7ea", "python": "#f4d58d", "output": "#ffffff"}
_STYLE = "".join(
    f".dali-core-graph {rule}"
    for rule in (
        "text{font:12px monospace;text-anchor:middle;fill:#1b2733}",
        ".label{font-size:10px;stroke:#fff;stroke-width:3px;paint-order:stroke}",
        "rect{stroke:#44546a}",
        "path{fill:none;stroke:#44546a}",
        ".side{stroke-dasharray:4 3}",
        ".left{text-anchor:end}",
        ".right{text-anchor:start}",
        ".frame *{fill:none;stroke:#8a5a00;stroke-width:15px;stroke-linejoin:round}",
        ".inner *{stroke:#fff3d6;stroke-width:12px}",
    )
)


@dataclass(frozen=True)
class Drawing:
    """A picture of a graph.

    Attributes
    ----------
    text : str
        An ``<svg>`` element.
    width, height : float
        Its extents in pixels.
    """

    text: str
    width: float
    height: float


def to_svg(nodes: Sequence[OperatorNode], outputs: Sequence[DataNode]) -> str:
    """Draw what computes some values, as an ``<svg>`` element; see `draw_graph`."""
    return draw_graph(nodes, outputs).text


def draw_graph(
    nodes: Sequence[OperatorNode],
    outputs: Sequence[DataNode],
    *,
    notes: Mapping[OperatorNode, str] | None = None,
    sizes: Mapping[DataNode, str] | None = None,
    groups: Sequence[tuple[Sequence[OperatorNode], str]] = (),
) -> Drawing:
    """Draw what computes some values.

    Parameters
    ----------
    nodes : sequence of OperatorNode
        Operators of the pipeline.
    outputs : sequence of DataNode
        What the pipeline returns.
    notes : mapping of OperatorNode to str, optional
        Texts in the boxes of operators, below their names.
    sizes : mapping of DataNode to str, optional
        Texts beside the lines where values begin.
    groups : sequence of (sequence of OperatorNode, str)
        Operators that run as one, which get a common frame, and a text about them.

    Returns
    -------
    Drawing
        The same for the same graph. Boxes are operators and outputs, colours tell operators that
        run in Python, and dashed lines are per-sample arguments and conditions.
    """
    keys: list[OperatorNode | int] = [*live_nodes(outputs, nodes), *range(len(outputs))]
    texts = {key: _text(key, notes or {}) for key in keys}
    entering = {key: _entering(key, outputs) for key in keys}
    beside = _beside_lines(entering, sizes or {})
    leaving: dict[OperatorNode | int, float] = {}
    for (value, _, _), text in beside.items():
        leaving[value.source] = leaving.get(value.source, 0.0) + _start_width(text)
    boxes = {
        key: Box(
            max(
                _SMALLEST_WIDTH,
                max(map(len, texts[key])) * _LETTER + 2 * _PADDING,
                sum(_port_width(label) for _, label in entering[key]),
                leaving.get(key, 0.0) if sizes else 0.0,
            ),
            len(texts[key]) * _ROW + _PADDING,
        )
        for key in keys
    }
    lines_of = {
        place_of: Line(boxes[place_of[0].source], boxes[place_of[1]]) for place_of in beside
    }
    labels = {line: entering[key][number][1] for (_, key, number), line in lines_of.items()}
    lines = list(labels)
    width, height = place(list(boxes.values()), lines)
    start_widths = {line: _start_width(beside[place_of]) for place_of, line in lines_of.items()}
    starts = _ports(start_widths, at_end=False)
    ends = _ports({line: _port_width(label) for line, label in labels.items()}, at_end=True)
    curves = {line: _curve(line, starts[line], ends[line]) for line in lines}
    shapes: list[str] = []
    for members, text in groups:
        own = [boxes[node] for node in members if node in boxes]
        inside = [line for line in lines if {line.start, line.end} <= {*own}]
        shapes += _draw_group(own, [curves[line] for line in inside], text)
    shapes += [_draw_line(curves[line], labels[line], line.end, ends[line]) for line in lines]
    shapes += [_draw_box(key, boxes[key], texts[key]) for key in keys]
    for place_of, line in lines_of.items():
        if beside[place_of]:
            shapes.append(_draw_size(line, starts[line], beside[place_of]))
    width, height = width + 2 * _MARGIN, height + 2 * _MARGIN
    text = "\n".join(
        [
            '<svg xmlns="http://www.w3.org/2000/svg" class="dali-core-graph" role="img" '
            'aria-label="Graph of the pipeline" '
            f'width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="{-_MARGIN:g} {-_MARGIN:g} {width:.1f} {height:.1f}">',
            f"<style>{_STYLE}</style>",
            *shapes,
            "</svg>\n",
        ]
    )
    return Drawing(text, width, height)


def _text(key: OperatorNode | int, notes: Mapping[OperatorNode, str]) -> list[str]:
    if isinstance(key, int):
        return [f"output {key}"]
    given = key.arguments.get("name")
    name = [f"'{_printable(given)}'"] if given is not None else []
    return [key.operator, *name, *([notes[key]] if key in notes else [])]


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


def _beside_lines(
    entering: Mapping[OperatorNode | int, Sequence[tuple[DataNode, str | None]]],
    sizes: Mapping[DataNode, str],
) -> dict[tuple[DataNode, OperatorNode | int, int], str]:
    """List all lines, with what is written where they begin: on the first line of each value."""
    written: dict[DataNode, str] = dict(sizes)
    return {
        (value, key, number): written.pop(value, "")
        for key, values in entering.items()
        for number, (value, _) in enumerate(values)
    }


def _port_width(label: str | None) -> float:
    return 2 * _PADDING + (len(label) * _SMALL_LETTER if label else 0.0)


def _start_width(text: str) -> float:
    # The text may be on either side.
    return 2 * _PADDING + 2 * len(text) * _SMALL_LETTER


def _ports(port_widths: Mapping[Line, float], *, at_end: bool) -> dict[Line, float]:
    """Return where along its box each line begins or ends: side by side, and without crossings."""
    groups: dict[Box, list[Line]] = {}
    for line in port_widths:
        groups.setdefault(line.end if at_end else line.start, []).append(line)
    places = {}
    for box, group in groups.items():
        others = {line: line.stops[-2 if at_end else 1].x for line in group}
        group.sort(key=others.__getitem__)
        widths = [port_widths[line] for line in group]
        x = box.x - box.width / 2
        for line, width in zip(group, widths, strict=True):
            share = width / sum(widths) * box.width
            places[line] = x + share / 2
            x += share
    return places


def _curve(line: Line, start: float, end: float) -> str:
    x, y = start, line.start.y + line.start.height / 2
    path = [f"M{x:.1f} {y:.1f}"]
    for stop in (*line.bends, line.end):
        to_x = end if stop is line.end else stop.x
        to_y = stop.y - stop.height / 2
        middle = (y + to_y) / 2
        path.append(f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}")
        x, y = to_x, to_y
    return " ".join(path)


def _draw_line(curve: str, label: str | None, end: Box, x: float) -> str:
    y = end.y - end.height / 2
    kind = "" if label is None else ' class="side"'
    drawn = [f'<path{kind} d="{curve}"/>']
    drawn.append(f'<path d="M{x - 3:.1f} {y - 6:.1f}L{x:.1f} {y:.1f}L{x + 3:.1f} {y - 6:.1f}"/>')
    if label is not None:
        drawn.append(f'<text class="label" x="{x:.1f}" y="{y - 12:.1f}">{escape(label)}</text>')
    return "\n".join(drawn)


def _draw_group(members: Sequence[Box], curves: Sequence[str], text: str) -> list[str]:
    """Draw a wide outline of boxes and of the lines between them: nothing else is inside."""
    shapes = "".join(
        f'<rect x="{box.x - box.width / 2:.1f}" y="{box.y - box.height / 2:.1f}" '
        f'width="{box.width:.1f}" height="{box.height:.1f}" rx="4"/>'
        for box in members
    ) + "".join(f'<path d="{curve}"/>' for curve in curves)
    return [
        f'<g class="frame"><title>{escape(_printable(text))}</title>{shapes}</g>',
        f'<g class="frame inner" aria-hidden="true">{shapes}</g>',
    ]


def _draw_size(line: Line, x: float, text: str) -> str:
    """Write beside the beginning of a line, on the side that it turns away from."""
    side, x = ("left", x - 5) if line.stops[1].x > x else ("right", x + 5)
    y = line.start.y + line.start.height / 2 + 20
    return f'<text class="label {side}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


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
