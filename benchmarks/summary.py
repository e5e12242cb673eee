"""Medians, quartiles, and ratios with their uncertainty."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

_RESAMPLES = 4000


@dataclass(frozen=True)
class Spread:
    """A median, or another estimate, with its bounds."""

    low: float
    median: float
    high: float


def quartiles(values: Sequence[float]) -> Spread:
    """Return the median of some values, with their quartiles as bounds."""
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    return Spread(*statistics.quantiles(values, n=4, method="inclusive"))


def ratio_of_medians(values: Sequence[float], others: Sequence[float]) -> Spread:
    """Divide the median of some values by that of others.

    The bounds are those of the 95 % bootstrap interval. Both were measured in the same rounds, so
    rounds are resampled as pairs: a disturbance of a whole round cancels out.
    """
    if len(values) != len(others):
        raise ValueError(
            "ratio_of_medians: both must have as many rounds "
            f"(got {len(values)} and {len(others)}). Measure them in turns."
        )
    generator = random.Random(0)
    rounds = range(len(values))
    ratios = []
    for _ in range(_RESAMPLES):
        chosen = generator.choices(rounds, k=len(rounds))
        ratios.append(
            statistics.median([values[index] for index in chosen])
            / statistics.median([others[index] for index in chosen])
        )
    ratios.sort()
    return Spread(
        ratios[int(0.025 * _RESAMPLES)],
        statistics.median(values) / statistics.median(others),
        ratios[int(0.975 * _RESAMPLES)],
    )
