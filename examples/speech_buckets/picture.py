"""Draw how much of the batches is padding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure


def draw(batches: Mapping[str, Sequence[Sequence[int]]], path: Path) -> None:
    """Draw the first batches of each way: a bar for each sound, as long as it is.

    Parameters
    ----------
    batches : mapping from name to lists of durations
        The frames of the sounds of each batch.
    path : Path
        The file to write; its suffix selects the format.
    """
    figure = Figure(figsize=(12, 4), layout="constrained")
    grid = figure.subplots(1, len(batches), sharex=True)
    for axes, (name, found) in zip(grid, batches.items(), strict=True):
        place = taken = 0
        for number, frames in enumerate(found):
            longest, seconds = max(frames), np.array(frames) / 100
            box = (longest / 100, len(frames))
            taken += longest * len(frames)
            axes.barh(place + (len(frames) - 1) / 2, *box, color="0.85")
            places = range(place, place + len(frames))
            axes.barh(places, seconds, height=1, color=f"C{number % 10}")
            place += len(frames) + 2
        total = sum(map(sum, found))
        axes.set(title=f"{name}: {1 - total / taken:.0%} padding", yticks=[], xlabel="seconds")
        axes.invert_yaxis()
    figure.savefig(path, dpi=90)
