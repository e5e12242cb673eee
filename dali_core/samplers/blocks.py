"""An order for data that is stored in blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dali_core._runtime.random import mix_seed, permutation
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.samplers.checks import checked, checked_length
from dali_core.samplers.sampling import DataSet, Sampler


class Blocks(Sampler):
    """All samples in a random order that reads neighbors together, for data stored in blocks.

    The blocks come in a random order, and the samples of a few blocks at a time are shuffled with
    each other. A reader that keeps so many blocks in memory reads each of them once in an epoch.

    Parameters
    ----------
    window : int
        How many blocks are shuffled with each other. With 1, samples stay in their block.
    sizes : array of int, shape (number of blocks,), optional
        Number of samples in each block, in the order of the data set. By default those of the
        reader: row groups of `readers.parquet`.
    """

    def __init__(self, window: int = 4, sizes: ArrayLike | None = None) -> None:
        self._window = checked_length(window, 1, name="window")
        self._sizes = None if sizes is None else checked(sizes, "sizes")

    def length(self, data: DataSet) -> int:
        """Return the number of samples in the data set."""
        self._sizes_of(data)
        return data.num_samples

    def indices(self, data: DataSet, epoch: int) -> NDArray[np.int64]:
        """Return the order of an epoch."""
        sizes = self._sizes_of(data)
        starts = np.cumsum(sizes) - sizes
        order = permutation(len(sizes), mix_seed(data.seed, _BLOCK_SALT), epoch)
        windows = []
        for number, first in enumerate(range(0, len(sizes), self._window)):
            blocks = order[first : first + self._window]
            samples = np.concatenate(
                [np.arange(starts[block], starts[block] + sizes[block]) for block in blocks]
            )
            seed = mix_seed(data.seed, _WINDOW_SALT + number)
            windows.append(samples[permutation(len(samples), seed, epoch)])
        return np.concatenate(windows)

    def _sizes_of(self, data: DataSet) -> NDArray[np.int64]:
        sizes = self._sizes
        if sizes is None:
            if data.blocks is None:
                raise ArgumentTypeError(
                    "sampler: Blocks must know the blocks, and this reader has none (got no "
                    "sizes). Pass sizes=..., the number of samples in each block."
                )
            sizes = np.asarray(data.blocks, np.int64)
        if sizes.min() < 0 or sizes.sum() != data.num_samples:
            raise ArgumentValueError(
                f"sampler: sizes must be numbers from 0 on, {data.num_samples} together, as many "
                f"as there are samples (got {sizes.sum()} in {len(sizes)} blocks). Fix the sizes."
            )
        return sizes[sizes > 0]


_BLOCK_SALT = 0x626C6F636B
_WINDOW_SALT = 0x77696E646F77
