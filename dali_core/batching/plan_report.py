"""Measures of a plan."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dali_core.batching.windows import PlannedWindow, WindowRule


@dataclass(frozen=True)
class PlanReport:
    """What a plan makes of an epoch; its text is a table.

    Attributes
    ----------
    num_samples, num_bins : int
        Samples in the bins, and bins.
    num_steps : int
        Steps that have a bin for each process.
    num_ranks : int
        Processes.
    num_dropped : int
        Samples that are left out since they are too long.
    num_parts : int
        Parts of samples, which are more than samples where some are split.
    num_tokens : int
        Sum of the lengths in all bins, of the first kind.
    fill : float
        That sum, divided by what the bins take with their padding.
    tokens : tuple of int
        Tokens of a bin: least, median, most.
    step_tokens : tuple of int
        Tokens of a step of all processes: least, median, most.
    sizes : tuple of int
        Samples in a bin, or parts of samples: least, median, most.
    num_shapes : int
        Different shapes of a process's batches: numbers of samples, and the lengths to which these
        are padded. Compilers of programs with static shapes, such as that of JAX, compile for each
        of them. Rows of packed samples have one.
    imbalance : float
        Mean over steps of the most that a process's bin takes, divided by the mean.
    correlation : float
        Of the number of a bin with the mean length in it: 0 where lengths do not drift.
    furthest : int
        Most positions that a sample comes away from its place in the order.
    """

    num_samples: int
    num_bins: int
    num_steps: int
    num_ranks: int
    num_dropped: int
    num_parts: int
    num_tokens: int
    fill: float
    tokens: tuple[int, int, int]
    step_tokens: tuple[int, int, int]
    sizes: tuple[int, int, int]
    num_shapes: int
    imbalance: float
    correlation: float
    furthest: int

    @property
    def waste(self) -> float:
        """The part of all bins that is padding."""
        return 1 - self.fill

    def __str__(self) -> str:
        """Return a table."""
        rows = [
            ("samples", f"{self.num_samples}"),
            ("bins", f"{self.num_bins}"),
            ("steps", f"{self.num_steps} on each of {self.num_ranks}"),
            ("dropped", f"{self.num_dropped} samples"),
            ("parts", f"{self.num_parts}"),
            ("tokens", f"{self.num_tokens}"),
            ("fill", f"{self.fill:.4f}"),
            ("waste", f"{self.waste:.4f}"),
            ("tokens of a bin", "least {}, median {}, most {}".format(*self.tokens)),
            ("tokens of a step", "least {}, median {}, most {}".format(*self.step_tokens)),
            ("samples of a bin", "least {}, median {}, most {}".format(*self.sizes)),
            ("shapes", f"{self.num_shapes} of batches, if padded to their extents"),
            ("imbalance", f"{self.imbalance:.3f}"),
            ("correlation", f"{self.correlation:+.3f} of length with step"),
            ("furthest", f"{self.furthest} positions from the order"),
        ]
        return "\n".join(f"{name:<18}{value}" for name, value in rows)


def measure(
    windows: Iterable[PlannedWindow], rule: WindowRule, num_ranks: int, rows: int = 1
) -> PlanReport:
    """Measure the bins of windows.

    Parameters
    ----------
    windows : iterable of PlannedWindow
        All windows of an epoch.
    rule : WindowRule
        What has divided them.
    num_ranks : int
        Processes that share the bins.
    rows : int
        Bins that a process has at each step.

    Returns
    -------
    PlanReport
        The measures.
    """
    tokens: list[int] = []
    rooms: list[int] = []
    sizes: list[int] = []
    shapes: list[tuple[int, ...]] = []
    num_samples = num_dropped = furthest = 0
    for planned in windows:
        pieces = planned.pieces
        num_samples += len(planned.samples) - pieces.num_dropped
        num_dropped += pieces.num_dropped
        lengths = pieces.stops - pieces.starts
        bins = [planned.members(place) for place in range(planned.num_bins)]
        for members in bins:
            tokens.append(int(lengths[members].sum()))
            rooms.append(rule.room(pieces.lengths[members]))
            sizes.append(len(members))
            shapes.append(rule.shape(pieces.lengths[members]))
        order = pieces.places[np.concatenate([np.empty(0, np.int64), *bins])]
        # Parts of a sample, and what comes after dropped ones, are compared with their own places.
        moved = np.abs(order - pieces.places)
        furthest = max(furthest, int(moved.max(initial=0)))
    total, taken = sum(tokens), sum(rooms)
    steps = len(rooms) // (num_ranks * rows)
    whole = steps * num_ranks * rows
    costs = np.array(rooms[:whole], np.float64).reshape(steps, num_ranks, rows).sum(axis=2)
    of_steps = np.array(tokens[:whole], np.int64).reshape(steps, num_ranks * rows).sum(axis=1)
    means = costs.mean(axis=1) if steps else np.ones(0)
    ratios = costs.max(axis=1)[means > 0] / means[means > 0] if steps else np.ones(0)
    return PlanReport(
        num_samples=num_samples,
        num_bins=len(rooms),
        num_steps=steps,
        num_ranks=num_ranks,
        num_dropped=num_dropped,
        num_parts=sum(sizes),
        num_tokens=total,
        fill=total / taken if taken else 1.0,
        tokens=_spread(tokens),
        step_tokens=_spread(of_steps.tolist()),
        sizes=_spread(sizes),
        num_shapes=len({tuple(shapes[i : i + rows]) for i in range(0, max(whole, 1), rows)}),
        imbalance=float(ratios.mean()) if len(ratios) else 1.0,
        correlation=_correlation(np.array(tokens), np.array(sizes)),
        furthest=furthest,
    )


def _spread(values: list[int]) -> tuple[int, int, int]:
    if not values:
        return 0, 0, 0
    return min(values), int(np.median(values)), max(values)


def _correlation(tokens: np.ndarray, sizes: np.ndarray) -> float:
    means = tokens / np.maximum(sizes, 1)
    if len(means) < 2 or means.std() == 0:
        return 0.0
    return float(np.corrcoef(np.arange(len(means)), means)[0, 1])
