"""Draw slices of volumes, with the outlines of organs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

_COLOURS = ("yellow", "cyan")  # of the organs


def draw(rows: Sequence[Sequence[npt.NDArray[Any]]], path: Path) -> None:
    """Draw the slice of each volume that has most of the kidneys, and the liver.

    Parameters
    ----------
    rows : sequence of (image, labels, found)
        Volumes of (D, H, W).
    path : Path
        The file to write; its suffix selects the format.
    """
    names = ("volume", "labels", "found")
    figure = Figure(figsize=(3 * len(names), 3 * len(rows)), layout="constrained")
    grid = figure.subplots(len(rows), len(names), squeeze=False)
    for line, (image, labels, found) in zip(grid, rows, strict=True):
        kidneys, liver = (labels == 2).sum((0, 1)), (labels == 1).any((0, 1))
        place = int((kidneys * liver).argmax())
        outlines = (None, labels, found)
        for axes, name, outline in zip(line, names, outlines, strict=True):
            axes.imshow(image[..., place].T, cmap="gray")
            axes.set(xticks=[], yticks=[], title=name)
            for label, colour in enumerate(_COLOURS, start=1):
                if outline is not None and (outline[..., place] == label).any():
                    inside = np.equal(outline[..., place].T, label).astype(np.float32)
                    axes.contour(inside, levels=[0.5], colors=colour)
    figure.savefig(path, dpi=100)
