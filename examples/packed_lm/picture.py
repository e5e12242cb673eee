"""Draw batches, and losses over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure


@dataclass(frozen=True)
class Curve:
    """A training run.

    Attributes
    ----------
    seconds, losses : sequence of float
        When each step ended, and its mean loss.
    segment_ids : array of shape (rows, length)
        Those of the first batch.
    """

    seconds: Sequence[float]
    losses: Sequence[float]
    segment_ids: npt.NDArray[np.int32]


def draw(curves: Mapping[str, Curve], entropy: float, path: Path) -> None:
    """Draw the first batch of each run, padding in white, and the losses of all.

    Parameters
    ----------
    curves : mapping from name to Curve
        The runs.
    entropy : float
        The least loss.
    path : Path
        The file to write; its suffix selects the format.
    """
    figure = Figure(figsize=(12, 6), layout="constrained")
    left, right = figure.subfigures(1, 2, squeeze=False)[0]
    widest = max(curve.segment_ids.shape[1] for curve in curves.values())
    for axes, (name, curve) in zip(left.subplots(len(curves), 1), curves.items(), strict=True):
        rows = curve.segment_ids
        colours = np.where(rows == 0, np.nan, (rows - 1) % 10)
        axes.imshow(colours, aspect="auto", cmap="tab10", vmin=0, vmax=9, interpolation="nearest")
        axes.set(xlim=(0, widest), ylabel="row", title=f"{name}: {(rows > 0).mean():.0%} filled")
    axes.set_xlabel("token")
    axes = right.subplots()
    for name, curve in curves.items():
        width = min(10, len(curve.losses))
        means = np.convolve(curve.losses, np.full(width, 1 / width), "valid")
        axes.plot(curve.seconds[width - 1 :], means, label=name)
    axes.axhline(entropy, color="grey", linestyle="--", label="entropy of the text")
    axes.set(xlabel="seconds", ylabel="loss (nats a token)")
    axes.legend()
    figure.savefig(path, dpi=90)
