"""Lists of samples that are planned as one: the images of a document, the clips of a video."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dali_core.batching.lengths import Lengths
from dali_core.batching.windows import Integers
from dali_core.errors import ArgumentTypeError, ArgumentValueError


class SampleLists:
    """Consecutive samples of a reader that belong together, and how many there are of each list.

    Parameters
    ----------
    sizes : array of int, shape (lists,)
        The number of samples in each list, one list after the other; 0 for an empty one.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If it is none of these.
    """

    def __init__(self, sizes: ArrayLike) -> None:
        array = np.asarray(sizes)
        if array.size == 0 and array.dtype == np.float64:
            array = array.astype(np.int64)  # an empty list
        if array.dtype.kind not in "iu":
            raise ArgumentTypeError(
                f"list_sizes: must be integers (got {array.dtype}). Pass the number of samples in "
                "each list."
            )
        if array.ndim != 1 or (array.size and int(array.min()) < 0):
            raise ArgumentValueError(
                f"list_sizes: must be one number from 0 on for each list (got shape {array.shape}"
                f"{f' and {array.min()}' if array.ndim == 1 else ''}). Pass the number of samples "
                "in each list."
            )
        self._sizes = Lengths(array)
        self._starts = np.zeros(len(array) + 1, np.int64)
        np.cumsum(array, out=self._starts[1:])

    @property
    def num_lists(self) -> int:
        """Number of lists."""
        return len(self._starts) - 1

    @property
    def num_samples(self) -> int:
        """Samples in all lists."""
        return int(self._starts[-1])

    @property
    def longest(self) -> int:
        """Most samples in a list."""
        return int(np.diff(self._starts).max(initial=0))

    def sizes(self, lists: Integers) -> Integers:
        """Return the number of samples in each of some lists."""
        found: Integers = self._starts[lists + 1] - self._starts[lists]
        return found

    def samples(self, lists: Integers) -> Integers:
        """Return the samples of some lists, one list after the other."""
        sizes = self.sizes(lists)
        ends = np.cumsum(sizes)
        found: Integers = np.repeat(self._starts[lists] - (ends - sizes), sizes)
        return found + np.arange(len(found))

    def sums(self, lengths: Any) -> Integers:
        """Return the length of each list: the sum of the lengths of its samples.

        Parameters
        ----------
        lengths : array of int, shape (samples,) or (samples, kinds)
            The length of each sample.
        """
        given = np.asarray(lengths)
        ends = np.zeros((len(given) + 1, *given.shape[1:]), np.int64)
        np.cumsum(given, axis=0, out=ends[1:])
        found: Integers = ends[self._starts[1:]] - ends[self._starts[:-1]]
        return found

    def fingerprint(self) -> str:
        """Return a text by which saved states recognise the lists."""
        return self._sizes.fingerprint()
