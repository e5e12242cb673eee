"""Draw documents with the captions that were found for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image


@dataclass(frozen=True)
class Match:
    """A document: its images, its caption, and the caption that matches best."""

    images: Sequence[Path]
    caption: str
    found: str


def draw(matches: Sequence[Match], path: Path) -> None:
    """Draw a row for each document.

    Parameters
    ----------
    matches : sequence of Match
        The documents.
    path : Path
        The file to write; its suffix selects the format.
    """
    columns = max(len(match.images) for match in matches)
    figure = Figure(figsize=(3 * columns, 2.4 * len(matches)), layout="constrained")
    grid = figure.subplots(len(matches), columns, squeeze=False)
    for axes, match in zip(grid, matches, strict=True):
        for one in axes:
            one.axis("off")
        for one, file in zip(axes, match.images, strict=False):
            with Image.open(file) as image:
                one.imshow(image)
                one.set_title(f"{image.width} x {image.height}", fontsize=8)
        is_right = match.found == match.caption
        axes[0].text(
            0, -0.1, match.found, transform=axes[0].transAxes, color="green" if is_right else "red"
        )
    figure.savefig(path, dpi=80)
