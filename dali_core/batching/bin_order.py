"""The order of a window's bins."""

from __future__ import annotations

import numpy as np

from dali_core._runtime.random import mix_seed, permutation
from dali_core.batching.windows import Bins, Integers


def shuffled(bins: Bins, seed: int, epoch: int, group: int, first: int) -> Integers:
    """Return the numbers of a window's bins in a random order.

    Parameters
    ----------
    bins : Bins
        The bins of the window.
    seed, epoch : int
        What the order depends on.
    group : int
        Bins of a class that stay together, at multiples of this in the epoch.
    first : int
        Number of the window's first bin in the epoch.

    Returns
    -------
    array of int64, shape (bins,)
        A permutation.
    """
    count = len(bins.starts) - 1
    if bins.groups is None or group == 1:
        return permutation(count, seed, epoch)
    units, rest = _units(bins, group)
    units = units[permutation(len(units), seed, epoch)]
    # The bins that complete the group which the window before has begun.
    missing = min(-first % group, count)
    if missing > len(rest):
        rest = np.concatenate([rest, units[-1]])
        units = units[:-1]
    rest = rest[permutation(len(rest), mix_seed(seed, 1), epoch)]
    return np.concatenate([rest[:missing], units.reshape(-1), rest[missing:]])


def _units(bins: Bins, group: int) -> tuple[Integers, Integers]:
    """Return groups of bins, shape (groups, bins in each), and the bins that fill none.

    Most are of one class; what these leave over is of neighbouring classes.
    """
    assert bins.groups is not None
    sizes = np.diff(bins.starts)
    units, left = [np.empty((0, group), np.int64)], [np.empty(0, np.int64)]
    for start, stop in zip(bins.groups[:-1], bins.groups[1:], strict=True):
        numbers = np.arange(start, stop)
        # The last bin of a class may have fewer samples.
        num_full = len(numbers) - (len(numbers) > 1 and sizes[stop - 1] < sizes[start])
        num_grouped = num_full // group * group
        units.append(numbers[:num_grouped].reshape(-1, group))
        left.append(numbers[num_grouped:])
    others = np.concatenate(left)
    num_grouped = len(others) // group * group
    units.append(others[:num_grouped].reshape(-1, group))
    return np.concatenate(units), others[num_grouped:]
