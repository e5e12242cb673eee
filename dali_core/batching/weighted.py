"""Batchings by the lengths of samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from numpy.typing import ArrayLike

from dali_core.batching.epoch_batches import DEFAULT_WINDOW, EpochBatches
from dali_core.batching.lengths import Lengths
from dali_core.batching.planned import Planned
from dali_core.batching.windows import WindowRule


@dataclass(frozen=True)
class Weighted(WindowRule):
    """A rule that divides the samples of an epoch by their lengths."""

    def plan(
        self,
        lengths: ArrayLike | tuple[ArrayLike, ...] | Lengths,
        *,
        seed: int = 0,
        epoch: int = 0,
        shuffle: bool = True,
        window: int = DEFAULT_WINDOW,
        repack: Literal["each_epoch", "once"] = "each_epoch",
    ) -> EpochBatches:
        """Divide an epoch of a data set into bins: batches, or rows of packed samples.

        The plan is a pure function of the parameters: the same in every process, for any number
        of them.

        Parameters
        ----------
        lengths : array of int, shape (samples,) or (samples, kinds), or tuple of arrays (samples,)
            The length of each sample, in each kind that the rule knows. It may be memory-mapped.
        seed : int
            Seed of the order of samples and bins, that of readers.
        epoch : int
            Number of the epoch, from 0 on.
        shuffle : bool
            Take the samples in a random order, and shuffle the bins of each window; otherwise
            samples are in the order of the data, and bins in the order in which they are made.
        window : int
            Consecutive samples of the order that are divided together. A sample comes at most so
            many positions away from its place in the order.
        repack : {"each_epoch", "once"}
            ``"once"`` divides the samples in the order of the data, the same in all epochs, and
            shuffles all bins.

        Returns
        -------
        EpochBatches
            The bins: `len`, and the numbers of the samples of each one. They are found on demand.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            If the lengths are not as the rule needs them, here or when a window is planned.
        """
        return EpochBatches(
            self, lengths, seed=seed, epoch=epoch, shuffle=shuffle, window=window, repack=repack
        )

    def windows(
        self,
        window: int = DEFAULT_WINDOW,
        *,
        repack: Literal["each_epoch", "once"] = "each_epoch",
        rows: int = 1,
        lengths: ArrayLike | tuple[ArrayLike, ...] | Mapping[str, ArrayLike] | None = None,
        list_sizes: ArrayLike | None = None,
    ) -> Planned:
        """Return the rule as batches of a pipeline, with parameters of its plan.

        Parameters
        ----------
        window : int
            As for `plan`.
        repack : {"each_epoch", "once"}
            As for `plan`.
        rows : int
            Bins in a batch: rows of packed samples.
        lengths : array of int, tuple or dict of arrays, optional
            As for `plan`; by default those that the reader declares.
        list_sizes : array of int, optional
            Divide lists of consecutive samples, such as the images of each document, with so many
            samples each. The samples of a list come together, one after the other, and `lengths`
            are those of the lists; by default a list has the sum of those that the reader declares.

        Returns
        -------
        Planned
            To be passed to `Pipeline` as `batching`.
        """
        return Planned(self, lengths, window, repack, rows, list_sizes)
