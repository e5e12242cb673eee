"""Draw the graph of a pipeline from its DOT file, without Graphviz."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path as Curve

Edge = tuple[str, str]
Point = tuple[float, float]

_NAME = r'("(?:[^"\\]|\\.)*"|[\w.]+)'
_STATEMENT = re.compile(r'(?:"(?:[^"\\]|\\.)*"|[^;\n"])+')
_EDGE = re.compile(rf"^{_NAME}\s*->\s*{_NAME}\s*(?:\[(.*)\])?$")
_NODE = re.compile(rf"^{_NAME}\s*(?:\[(.*)\])?$")
_ATTRIBUTE = re.compile(rf"(\w+)\s*=\s*{_NAME}")
_KEYWORDS = frozenset({"node", "edge", "graph"})

_LETTER, _LINE = 0.085, 0.2
_BOX_MARGIN, _COLUMN_GAP, _LAYER_GAP = 0.22, 0.35, 0.55
_FILL, _LINES = "#dbe9f9", "#44546a"


@dataclass
class Graph:
    """Nodes and edges, each with its attributes."""

    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: dict[Edge, dict[str, str]] = field(default_factory=dict)


@dataclass
class Box:
    """Where a node is drawn. Boxes without text only guide edges that pass a layer."""

    text: str
    fill: str | None
    layer: int
    x: float = 0.0
    y: float = 0.0

    @property
    def width(self) -> float:
        """Width in inches."""
        longest = max(len(line) for line in self.text.split("\n"))
        return longest * _LETTER + _BOX_MARGIN if self.text else 0.05

    @property
    def height(self) -> float:
        """Height in inches."""
        return (self.text.count("\n") + 1) * _LINE + _BOX_MARGIN if self.text else 0.0


def read_dot(text: str) -> Graph:
    """Read the statements of a DOT file: nodes, edges and their attributes (no subgraphs).

    Raises
    ------
    ValueError
        If a statement is neither.
    """
    graph = Graph()
    body = text[text.index("{") + 1 : text.rindex("}")]
    for statement in filter(None, map(str.strip, _STATEMENT.findall(body))):
        if edge := _EDGE.match(statement):
            source, target = _plain(edge[1]), _plain(edge[2])
            graph.nodes.setdefault(source, {})
            graph.nodes.setdefault(target, {})
            graph.edges.setdefault((source, target), {}).update(_attributes(edge[3]))
        elif node := _NODE.match(statement):
            if node[1] not in _KEYWORDS:
                graph.nodes.setdefault(_plain(node[1]), {}).update(_attributes(node[2]))
        elif "=" not in statement:
            raise ValueError(
                f"read_dot: a statement must be a node or an edge (got {statement!r})."
            )
    return graph


def draw(dot_file: Path, picture: Path) -> None:
    """Draw the graph of a DOT file, inputs on top; the suffix of ``picture`` names the format."""
    graph = read_dot(dot_file.read_text())
    boxes, _, routes = lay_out(graph)
    width = max(box.x + box.width / 2 for box in boxes.values()) + 0.2
    height = max(box.y + box.height / 2 for box in boxes.values()) + 0.2
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    for box in boxes.values():
        if box.fill:
            corner = (box.x - box.width / 2, box.y - box.height / 2)
            axes.add_patch(
                FancyBboxPatch(
                    corner,
                    box.width,
                    box.height,
                    "round,pad=0,rounding_size=0.08",
                    facecolor=box.fill,
                    edgecolor=_LINES,
                    zorder=2,
                )
            )
        axes.text(box.x, box.y, box.text, ha="center", va="center", family="monospace", size=9)
    for (source, target), route in routes.items():
        attributes = graph.edges[source, target]
        points = _points([boxes[name] for name in (source, *route, target)])
        style = "dashed" if attributes.get("style") in ("dashed", "dotted") else "solid"
        axes.add_patch(
            FancyArrowPatch(
                path=_curve(points),
                arrowstyle="-|>",
                mutation_scale=11,
                color=_LINES,
                linestyle=style,
                zorder=1,
            )
        )
        if "label" in attributes:
            x, y = _middle(points)
            axes.text(x + 0.08, y, attributes["label"], size=8, color=_LINES, va="center")
    # Text stays text in an SVG, to be found and copied.
    with rc_context({"svg.fonttype": "none"}):
        figure.savefig(picture, dpi=150)


def lay_out(graph: Graph) -> tuple[dict[str, Box], list[Edge], dict[Edge, list[str]]]:
    """Place the nodes of a graph.

    Returns
    -------
    boxes : dict
        A box for each node, and guide points where an edge passes a layer.
    segments : list
        The pieces of the edges, from each box to one in the next layer.
    routes : dict
        The guide points of each edge.
    """
    boxes, segments, routes = _layers(graph)
    _place(boxes, segments)
    return boxes, segments, routes


def _plain(name: str) -> str:
    return name[1:-1].replace('\\"', '"').replace("\\n", "\n") if name.startswith('"') else name


def _attributes(text: str | None) -> dict[str, str]:
    return {key: _plain(value) for key, value in _ATTRIBUTE.findall(text or "")}


def _layers(graph: Graph) -> tuple[dict[str, Box], list[Edge], dict[Edge, list[str]]]:
    """Put every node below all of its sources."""
    boxes = {
        name: Box(
            attributes.get("label", name),
            None if attributes.get("shape") == "plaintext" else attributes.get("fillcolor", _FILL),
            0,
        )
        for name, attributes in graph.nodes.items()
    }
    for _ in boxes:
        for source, target in graph.edges:
            boxes[target].layer = max(boxes[target].layer, boxes[source].layer + 1)
    for name, box in boxes.items():
        # A node without sources stands right above the first that needs it.
        targets = [boxes[target].layer for source, target in graph.edges if source == name]
        if targets and all(target != name for _, target in graph.edges):
            box.layer = min(targets) - 1
    segments: list[Edge] = []
    routes: dict[Edge, list[str]] = {}
    for source, target in graph.edges:
        guides = [
            f"{source} -> {target} {layer}"
            for layer in range(boxes[source].layer + 1, boxes[target].layer)
        ]
        for layer, guide in enumerate(guides, boxes[source].layer + 1):
            boxes[guide] = Box("", None, layer)
        chain = [source, *guides, target]
        segments += list(pairwise(chain))
        routes[source, target] = guides
    return boxes, segments, routes


def _place(boxes: dict[str, Box], edges: list[Edge]) -> None:
    """Order each layer by the mean position of its neighbours, a few times down and up."""
    layers: dict[int, list[str]] = defaultdict(list)
    for name, box in boxes.items():
        layers[box.layer].append(name)
    neighbours: dict[str, list[str]] = defaultdict(list)
    for source, target in edges:
        neighbours[source].append(target)
        neighbours[target].append(source)
    order = sorted(layers)
    for sweep in [order, order[::-1]] * 4:
        for layer in sweep:
            wanted = {
                name: fmean([boxes[other].x for other in neighbours[name]] or [boxes[name].x])
                for name in layers[layer]
            }
            layers[layer].sort(key=lambda name: wanted[name])
            _spread(
                [boxes[name] for name in layers[layer]], [wanted[name] for name in layers[layer]]
            )
    left = min(box.x - box.width / 2 for box in boxes.values()) - 0.2
    y = 0.2
    for layer in order:
        height = max(boxes[name].height for name in layers[layer])
        for name in layers[layer]:
            boxes[name].x -= left
            boxes[name].y = y + height / 2
        y += height + _LAYER_GAP


def _spread(row: list[Box], wanted: list[float]) -> None:
    """Set boxes near their wanted places, in order and without overlap."""
    x = -float("inf")
    for box, place in zip(row, wanted, strict=True):
        x = max(place, x)
        box.x = x
        x += box.width / 2 + _COLUMN_GAP
        following = row[row.index(box) + 1 :]
        x += following[0].width / 2 if following else 0
    shift = fmean(wanted) - fmean(box.x for box in row)
    for box in row:
        box.x += shift


def _points(stops: list[Box]) -> list[Point]:
    """Go from the bottom of the first box through the guide points to the top of the last."""
    first, last = stops[0], stops[-1]
    return [
        (first.x, first.y + first.height / 2),
        *((stop.x, stop.y) for stop in stops[1:-1]),
        (last.x, last.y - last.height / 2),
    ]


def _curve(points: list[Point]) -> Curve:
    """Join points by bends that start and end upright."""
    vertices, codes = [points[0]], [Curve.MOVETO]
    for (x0, y0), (x1, y1) in pairwise(points):
        bend = (y1 - y0) / 2
        vertices += [(x0, y0 + bend), (x1, y1 - bend), (x1, y1)]
        codes += [Curve.CURVE4] * 3
    return Curve(vertices, codes)


def _middle(points: list[Point]) -> Point:
    """Find the point half-way along; each bend is symmetric, so it passes the mean of its ends."""
    (x0, y0), (x1, y1) = points[(len(points) - 1) // 2], points[len(points) // 2]
    return (x0 + x1) / 2, (y0 + y1) / 2
