"""Draw results for a few clips: low resolution, enlarged in two ways, and the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from matplotlib.figure import Figure


@dataclass(frozen=True)
class Column:
    """A column of images: tensors of shape (3, height, width), and a caption below each."""

    name: str
    images: Sequence[torch.Tensor]
    notes: Sequence[str]


def draw(columns: Sequence[Column], path: Path) -> None:
    """Draw a row for each image.

    Parameters
    ----------
    columns : sequence of Column
        Images in them may have different sizes, and are shown equally large.
    path : Path
        The file to write; its suffix selects the format.
    """
    rows = len(columns[0].images)
    figure = Figure(figsize=(3.2 * len(columns), 3.4 * rows), layout="constrained")
    grid = figure.subplots(rows, len(columns), squeeze=False)
    for column, axes_below in zip(columns, grid.T, strict=True):
        axes_below[0].set_title(column.name)
        for axes, image, note in zip(axes_below, column.images, column.notes, strict=True):
            axes.imshow(image.permute(1, 2, 0).clamp(0, 1).numpy(), interpolation="nearest")
            axes.set(xticks=[], yticks=[], xlabel=note)
    figure.savefig(path, dpi=100)
