"""Places the boxes of a graph in layers, and the lines between them.

After Sugiyama, Tagawa and Toda (1981): boxes get layers, so that lines point down; lines that pass
layers get a place in each; the order in the layers is improved until few lines cross; at last,
every layer is moved as near as possible to its neighbours, with nothing overlapping.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

_SWEEPS = 12
_COLUMN_GAP, _LAYER_GAP = 24.0, 44.0
_BEND_WIDTH = 4.0


@dataclass(eq=False)
class Box:
    """Something with a size, whose middle gets a place; without height, a bend of a line."""

    width: float
    height: float
    layer: int = 0
    x: float = 0.0
    y: float = 0.0
    above: list[Box] = field(default_factory=list)
    below: list[Box] = field(default_factory=list)


@dataclass(eq=False)
class Line:
    """A line from one box down to another; `bends` are the places where it passes layers."""

    start: Box
    end: Box
    bends: list[Box] = field(default_factory=list)

    @property
    def stops(self) -> list[Box]:
        """The boxes that the line visits."""
        return [self.start, *self.bends, self.end]


def place(boxes: Sequence[Box], lines: Sequence[Line]) -> tuple[float, float]:
    """Place every box and every bend.

    Parameters
    ----------
    boxes : sequence of Box
        In an order in which all lines point from an earlier to a later box.
    lines : sequence of Line
        The lines. They get their bends.

    Returns
    -------
    float, float
        Width and height of the picture.
    """
    _choose_layers(boxes, lines)
    layers: list[list[Box]] = [[] for _ in range(max((box.layer for box in boxes), default=-1) + 1)]
    for box in boxes:
        layers[box.layer].append(box)
    for line in lines:
        for layer in range(line.start.layer + 1, line.end.layer):
            line.bends.append(Box(_BEND_WIDTH, 0.0, layer))
            layers[layer].append(line.bends[-1])
        for upper, lower in zip(line.stops, line.stops[1:], strict=False):
            upper.below.append(lower)
            lower.above.append(upper)
    _order(layers)
    _choose_columns(layers)
    y = 0.0
    for row in layers:
        height = max(box.height for box in row)
        for box in row:
            box.y = y + height / 2
        y += height + _LAYER_GAP
    everything = [box for row in layers for box in row]
    left = min((box.x - box.width / 2 for box in everything), default=0.0)
    for box in everything:
        box.x -= left
    width = max((box.x + box.width / 2 for box in everything), default=0.0)
    return width, max(0.0, y - _LAYER_GAP)


def _choose_layers(boxes: Sequence[Box], lines: Sequence[Line]) -> None:
    entering: dict[Box, list[Box]] = {box: [] for box in boxes}
    leaving: dict[Box, list[Box]] = {box: [] for box in boxes}
    for line in lines:
        entering[line.end].append(line.start)
        leaving[line.start].append(line.end)
    for box in boxes:
        box.layer = 1 + max((start.layer for start in entering[box]), default=-1)
    for box in reversed(boxes):
        # What nothing enters comes right above what it enters.
        if not entering[box] and leaving[box]:
            box.layer = min(end.layer for end in leaving[box]) - 1


def _order(layers: Sequence[list[Box]]) -> None:
    """Order each layer by the mean place of the neighbours, downwards and upwards in turns."""
    best, fewest = [list(row) for row in layers], _num_crossings(layers)
    for sweep in range(_SWEEPS):
        is_down = sweep % 2 == 0
        for row in layers if is_down else reversed(layers):
            for place_in_row, box in enumerate(row):
                box.x = float(place_in_row)
            row.sort(key=lambda box: _mean(box.above if is_down else box.below, box.x))
            for place_in_row, box in enumerate(row):
                box.x = float(place_in_row)
        crossings = _num_crossings(layers)
        if crossings < fewest:
            best, fewest = [list(row) for row in layers], crossings
    for row, ordered in zip(layers, best, strict=True):
        row[:] = ordered


def _num_crossings(layers: Sequence[list[Box]]) -> int:
    count = 0
    for row, below in itertools.pairwise(layers):
        places = {box: number for number, box in enumerate(below)}
        ends = [sorted(places[box] for box in upper.below) for upper in row]
        before: list[int] = []
        for end in itertools.chain.from_iterable(ends):
            count += len(before) - bisect.bisect_right(before, end)
            bisect.insort(before, end)
    return count


def _choose_columns(layers: Sequence[list[Box]]) -> None:
    for row in layers:
        _spread(row, [0.0] * len(row))
    for sweep in range(_SWEEPS):
        for row in layers if sweep % 2 == 0 else reversed(layers):
            _spread(row, [_mean([*box.above, *box.below], box.x) for box in row])


def _spread(row: Sequence[Box], wanted: Sequence[float]) -> None:
    """Put boxes as near as possible to where they are wanted: least squares, in their order.

    Without the widths, these are non-decreasing numbers; neighbours that would be in the wrong
    order share their mean (pool adjacent violators).
    """
    offsets = [0.0]
    for left, right in itertools.pairwise(row):
        offsets.append(offsets[-1] + (left.width + right.width) / 2 + _COLUMN_GAP)
    pools: list[tuple[float, int]] = []  # mean and size
    for place_wanted, offset in zip(wanted, offsets, strict=True):
        mean, size = place_wanted - offset, 1
        while pools and pools[-1][0] > mean:
            other, others = pools.pop()
            mean = (mean * size + other * others) / (size + others)
            size += others
        pools.append((mean, size))
    means = [mean for mean, size in pools for _ in range(size)]
    for box, mean, offset in zip(row, means, offsets, strict=True):
        box.x = mean + offset


def _mean(neighbours: Iterable[Box], otherwise: float) -> float:
    places = [box.x for box in neighbours]
    return sum(places) / len(places) if places else otherwise
