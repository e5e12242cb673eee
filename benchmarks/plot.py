"""Draw measurements as bars, with a point for every round."""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from .peers import PEERS

# The same colour for a peer in every picture.
_COLOURS = dict(
    zip(PEERS.values(), ("#1b6ca8", "#8fb339", "#e0a030", "#6fa8d0", "#0d3a5c"), strict=True)
)


def bars(
    groups: Mapping[str, Mapping[str, Sequence[float]]], unit: str, title: str, picture: Path
) -> None:
    """Draw one group of horizontal bars after another.

    Parameters
    ----------
    groups : mapping of mappings
        For each group (a pipeline), the values of the rounds of each peer, by its title. The bar is
        their median.
    unit : str
        What the values are.
    title : str
        What was measured on what.
    picture : Path
        The file to write; its suffix selects the format.
    """
    num_bars = sum(len(group) + 1 for group in groups.values())
    figure = Figure(figsize=(9, 1.2 + 0.34 * num_bars), layout="constrained")
    axes = figure.subplots()
    place, ticks = 0.0, []
    for group in groups.values():
        start = place
        for peer, values in group.items():
            median = statistics.median(values)
            axes.barh(place, median, 0.85, color=_COLOURS[peer], label=peer)
            axes.plot(
                values, [place] * len(values), "|", color="black", markersize=7, markeredgewidth=0.8
            )
            axes.annotate(
                f"{median:,.0f}",
                (max(values), place),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
            )
            place += 1
        ticks.append((start + place - 1) / 2)
        place += 0.8
    axes.set_yticks(ticks, [textwrap.fill(name, 30) for name in groups])
    axes.invert_yaxis()
    axes.margins(x=0.1)
    axes.set(xlabel=unit)
    axes.set_title(title, size=10)
    axes.spines[["top", "right"]].set_visible(False)
    handles, labels = axes.get_legend_handles_labels()
    unique = dict(zip(labels, handles, strict=True))
    figure.legend(
        unique.values(), unique.keys(), loc="outside lower center", ncols=len(unique), frameon=False
    )
    figure.savefig(picture, dpi=130)
