"""Draw sounds and their spectrograms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from .sounds import RATE, WORDS

Floats = npt.NDArray[np.float32]


def draw(samples: Sequence[tuple[Floats, Floats, Floats]], path: Path) -> None:
    """Draw a row for each sound: its samples, its spectrogram, and what the network takes.

    Parameters
    ----------
    samples : sequence
        Samples, and two spectrograms of shape (frequencies, times).
    path : Path
        The file to write; its suffix selects the format.
    """
    figure = Figure(figsize=(11, 1.9 * len(samples)), layout="constrained")
    grid = figure.subplots(len(samples), 3, squeeze=False)
    for axes, title in zip(grid[0], ("samples", "log-mel (dB)", "for the network"), strict=True):
        axes.set_title(title)
    for number, (row, (sound, whole, cut)) in enumerate(zip(grid, samples, strict=True)):
        row[0].plot(np.arange(len(sound)) / RATE, sound, linewidth=0.5)
        row[0].set_ylabel(WORDS[number % len(WORDS)])
        for axes, spectra in ((row[1], whole), (row[2], cut)):
            extent = (0, spectra.shape[1] / 100, 0, len(spectra))
            image = axes.imshow(spectra, origin="lower", aspect="auto", extent=extent)
            figure.colorbar(image, ax=axes)
    for axes in grid[-1]:
        axes.set_xlabel("seconds")
    figure.savefig(path, dpi=90)
