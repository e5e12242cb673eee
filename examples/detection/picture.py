"""Draw images with their boxes and masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from .shapes import CLASSES

_COLOURS = ("white", "yellow", "cyan")  # of the classes


@dataclass(frozen=True)
class Panel:
    """An image and what is in it.

    Attributes
    ----------
    image : uint8 array of shape (height, width, 3)
    boxes : array of shape (N, 4)
        Left, top, right and bottom, in units of the extents of the image.
    labels : array of N integers
        Counted from 1.
    mask : int32 array of shape (height, width, 1)
        The label at each pixel, or 0.
    """

    image: npt.NDArray[np.uint8]
    boxes: npt.NDArray[np.float32]
    labels: npt.NDArray[np.int32]
    mask: npt.NDArray[np.int32]


def draw(rows: Sequence[Sequence[Panel]], names: Sequence[str], path: Path) -> None:
    """Draw a grid of panels with a name for each column.

    Parameters
    ----------
    rows : sequence of sequences of Panel
        A panel for each column.
    names : sequence of str
        The names of the columns.
    path : Path
        The file to write; its suffix selects the format.
    """
    figure = Figure(figsize=(4 * len(names), 3.2 * len(rows)), layout="constrained")
    grid = figure.subplots(len(rows), len(names), squeeze=False)
    for axes, name in zip(grid[0], names, strict=True):
        axes.set_title(name)
    for axes, panel in zip(grid.flat, (panel for row in rows for panel in row), strict=True):
        height, width = panel.image.shape[:2]
        # Pixel centres are at halves, as for boxes.
        extent = (0, width, height, 0)
        axes.imshow(panel.image, interpolation="nearest", extent=extent)
        axes.set(xticks=[], yticks=[])
        for label, colour in enumerate(_COLOURS, start=1):
            inside = (panel.mask[..., 0] == label).astype(np.float32)
            if inside.any():
                x, y = np.arange(width) + 0.5, np.arange(height) + 0.5
                axes.contour(x, y, inside, levels=[0.5], colors=colour, linestyles="dotted")
        for box, label in zip(panel.boxes, panel.labels, strict=True):
            left, top, right, bottom = box * (width, height, width, height)
            colour = _COLOURS[label - 1]
            axes.add_patch(
                Rectangle((left, top), right - left, bottom - top, fill=False, color=colour, lw=2)
            )
            # Above the box, if there is room.
            place = "bottom" if top > 0.06 * height else "top"
            axes.text(left, top, CLASSES[label - 1], va=place, color=colour)
    figure.savefig(path, dpi=100)
