"""Draw a grid of samples with a name for each row."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure


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
