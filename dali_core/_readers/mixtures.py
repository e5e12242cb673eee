"""Data sets that are mixed: which of them gives each sample, and which of its samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._runtime.random import mix_seed, permutation
from dali_core.errors import ArgumentValueError
from dali_core.samplers import DataSet, Sampler

FIRST, ALL = 0, -1
"""Lengths of epochs: until the first data set has been read once, or all have."""


class MixtureOrder(Sampler):
    """Which data set gives each sample of an epoch.

    Each has the same number of samples in all epochs, at random places: so it is known, without
    counting from the beginning, how many of them came before any place of any epoch.

    Parameters
    ----------
    sizes : sequence of int
        Samples in an epoch of each data set.
    weights : sequence of float, optional
        Their shares, positive numbers; by default in proportion to `sizes`.
    length : int
        Samples in an epoch of the mixture, or `FIRST` or `ALL`.

    Attributes
    ----------
    counts : list of int
        How many samples of each data set an epoch has.

    Raises
    ------
    ArgumentValueError
        If a data set would have no sample in an epoch.
    """

    def __init__(
        self, sizes: Sequence[int], weights: Sequence[float] | None = None, length: int = FIRST
    ) -> None:
        shares = np.array(sizes if weights is None else weights, np.float64)
        if len(shares) != len(sizes):
            raise ArgumentValueError(
                f"weights must have an entry for each of the {len(sizes)} data sets (got "
                f"{len(shares)}). Pass as many."
            )
        self.counts = _counts(sizes, shares, length)
        self._ends = np.cumsum(self.counts)
        self._places: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
        if 0 in self.counts:
            number = self.counts.index(0)
            raise ArgumentValueError(
                f"weights must give each data set at least one sample in an epoch (got "
                f"{shares[number]} for data set {number}, in epochs of {self._ends[-1]}). Pass a "
                "larger weight, or a larger length."
            )

    def length(self, data: DataSet) -> int:
        """Return the number of samples in an epoch of the mixture."""
        return int(self._ends[-1])

    def indices(self, data: DataSet, epoch: int) -> NDArray[np.int64]:
        """Return the number of the data set that gives each sample of an epoch."""
        return self.places(data, epoch)[0]

    def places(self, data: DataSet, epoch: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return, for each sample, the data set and how many it gave before in this epoch."""
        if epoch not in self._places:
            while len(self._places) >= _EPOCHS_KEPT:
                del self._places[next(iter(self._places))]
            seed = mix_seed(data.seed, _CHOICE_SALT)
            mixed = permutation(int(self._ends[-1]), seed, epoch)
            numbers = np.searchsorted(self._ends, mixed, side="right")
            before = np.empty_like(numbers)
            starts = np.concatenate([[0], self._ends[:-1]])
            before[np.argsort(numbers, kind="stable")] = np.arange(len(numbers)) - np.repeat(
                starts, self.counts
            )
            self._places[epoch] = numbers, before
        return self._places[epoch]


def _counts(sizes: Sequence[int], shares: NDArray[np.float64], length: int) -> list[int]:
    if length in (FIRST, ALL):
        rounds = [size / share for size, share in zip(sizes, shares, strict=True)]
        first = int(np.argmin(rounds) if length == FIRST else np.argmax(rounds))
        exact = sizes[first] * (shares / shares[first])
        return [int(count) for count in np.rint(exact)]
    exact = length * (shares / shares.sum())
    counts = np.floor(exact).astype(np.int64)
    # The samples that are left go to those that lost most by rounding.
    most = np.argsort(counts - exact, kind="stable")[: length - int(counts.sum())]
    counts[most] += 1
    return [int(count) for count in counts]


def check_own_arguments(arguments: Mapping[str, Any]) -> None:
    """Check that a reader in a mixture has no shards of its own.

    Raises
    ------
    ArgumentValueError
        If it has.
    """
    for name, default in _OF_MIXTURES.items():
        if arguments.get(name, default) != default:
            raise ArgumentValueError(
                f"{name} must not be given to a reader in a mixture (got {arguments[name]}). Pass "
                "it to mix_readers, which divides all data sets alike."
            )


_OF_MIXTURES = {
    "num_shards": 1,
    "shard_id": 0,
    "stick_to_shard": False,
    "interleaved_shards": False,
    "pad_last_batch": False,
}
_EPOCHS_KEPT = 3
_CHOICE_SALT = 0x63686F696365
