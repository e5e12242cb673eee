"""Signals and spectra for tests of operators on audio."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.operators.suite import Input, numbers
from tests.sounds import tones

LENGTHS = (600, 1, 513, 1024, 37, 2000, 5, 801)


def signals(shortest: int = 1) -> Input:
    """Return one-dimensional float32 signals of different lengths."""
    return Input(lambda i: tones(max(LENGTHS[i % len(LENGTHS)], shortest), seed=i)[:, 0])


def spectra(layout: str = "ft", bins: int = 129) -> Input:
    """Return positive numbers of different extents in time."""

    def make(number: int) -> np.ndarray:
        extents = {"f": bins, "t": (10, 1, 17, 33, 600)[number % 5]}
        shape = [extents.get(letter, 2) for letter in layout]
        return np.abs(numbers("float32", shape, number))

    return Input(make, layout)


def random(shape: Sequence[int], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
