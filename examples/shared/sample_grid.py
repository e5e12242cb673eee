"""Draw a grid of samples with a name for each row."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

_COLUMNS = 8
_ROWS = 10


def draw(images: npt.NDArray[np.uint8], names: Sequence[str], picture: Path) -> None:
    """Draw images as a grid with one row per name.

    Parameters
    ----------
    images : uint8 array of shape (rows * columns, height, width, 3)
        The images, row by row.
    names : sequence of str
        The name of each row.
    picture : Path
        The file to write; its suffix selects the format.
    """
    rows, columns = len(names), len(images) // len(names)
    figure = Figure(figsize=(columns + 1.2, rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes, image in zip(grid.flat, images, strict=True):
        axes.imshow(image, interpolation="nearest")
        axes.set(xticks=[], yticks=[])
    for axes, name in zip(grid[:, 0], names, strict=True):
        axes.set_ylabel(name, rotation=0, ha="right", va="center")
    figure.savefig(picture, dpi=100)


def draw_by_class(
    images: npt.NDArray[np.floating],
    labels: Sequence[int],
    classes: Sequence[str],
    picture: Path,
) -> None:
    """Draw a batch with one row per class; a class with few images has white places.

    Parameters
    ----------
    images : array of shape (N, height, width, 3)
        Values from 0 to 255; others are clipped.
    labels : sequence of N int
        The class index of each image.
    classes : sequence of str
        The names of all classes; only those in the batch are drawn, ten at most.
    picture : Path
        The file to write; its suffix selects the format.
    """
    found = sorted(set(labels))[:_ROWS]
    grid = np.full((len(found), _COLUMNS, *images.shape[1:]), 255, np.uint8)
    for row, label in enumerate(found):
        places = [place for place, one in enumerate(labels) if one == label][:_COLUMNS]
        grid[row, : len(places)] = images[places].round().clip(0, 255)
    draw(grid.reshape(-1, *images.shape[1:]), [classes[label] for label in found], picture)
