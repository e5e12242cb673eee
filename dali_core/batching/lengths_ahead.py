"""Lengths that are computed window by window, just before they are needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core.batching.lengths import Lengths
from dali_core.batching.measured_lengths import digest_of
from dali_core.batching.windows import Integers, check_count
from dali_core.errors import ArgumentConflictError, ArgumentTypeError, ArgumentValueError


class LengthsAhead(Lengths):
    """Lengths of samples that are not known before an epoch, such as those of generated text.

    They are computed for the samples of one window at a time, when its first bin is asked for:
    choose a small `window`. A state is the window and the bin in it, so resuming computes the
    lengths of one window. `len` of a plan or an iterator, and `describe`, compute all of them. If a
    pass over all samples is affordable, `measure_lengths` does that once, and keeps them.

    Parameters
    ----------
    lengths_of : callable
        Gets an array of the numbers of some samples, and returns an array with the length of each;
        with several kinds of lengths, one of shape (samples, kinds). The same sample must always
        have the same length.
    num_samples : int
        Number of samples in the data set.
    fingerprint : str, path, or sequence of these
        What the lengths depend on, by which states recognise them; see `measure_lengths`.
    num_kinds : int
        Number of kinds.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If a parameter is none of these; when a window is planned, if results are no lengths.
    """

    def __init__(
        self,
        lengths_of: Callable[[NDArray[np.int64]], Any],
        num_samples: int,
        *,
        fingerprint: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        num_kinds: int = 1,
    ) -> None:
        if not callable(lengths_of):
            raise ArgumentTypeError(
                f"lengths_of: must be callable (got {lengths_of!r:.100}). Pass arrays as lengths."
            )
        self.num_samples = check_count(num_samples, "num_samples", least=0)
        self.num_kinds = check_count(num_kinds, "num_kinds")
        self._lengths_of = lengths_of
        self._fingerprint = f"{num_samples}x{num_kinds}-{digest_of(fingerprint)}"

    def of(self, samples: Integers) -> Integers:
        """Compute the lengths of some samples, shape (samples, kinds).

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            If they are none.
        """
        if not len(samples):
            return np.zeros((0, self.num_kinds), np.int64)
        found = np.asarray(self._lengths_of(samples))
        if found.dtype.kind not in "iu":
            raise ArgumentTypeError(
                f"lengths_of: must return integers (got an array of {found.dtype}). Convert it."
            )
        shape = (len(samples), self.num_kinds)
        if found.shape not in (shape, shape[: 1 + (self.num_kinds > 1)]):
            raise ArgumentValueError(
                f"lengths_of: must return an array of shape {shape} for {len(samples)} samples "
                f"(got shape {found.shape}). Return a length for each."
            )
        found = np.ascontiguousarray(found.reshape(shape))
        if found.min() < 0 or found.max() >= 2**63:
            row = int(np.flatnonzero(((found < 0) | (found >= 2**63)).any(axis=1))[0])
            raise ArgumentValueError(
                f"lengths_of: must return integers from 0 on (got {found[row].tolist()} for sample "
                f"{samples[row]}). Correct it."
            )
        return found.astype(np.int64)

    def expect_random_reads(self) -> None:
        """Do nothing: there is no file."""

    def some(self) -> Integers:
        """Raise: none are known."""
        raise self._unknown()

    def largest(self) -> int:
        """Raise: it is not known."""
        raise self._unknown()

    def fingerprint(self) -> str:
        """Return a text by which saved states recognise the lengths."""
        assert self._fingerprint is not None
        return self._fingerprint

    @staticmethod
    def _unknown() -> ArgumentConflictError:
        return ArgumentConflictError(
            "Bucket: edges must be given where lengths are computed ahead (got number, which needs "
            "all lengths). Pass edges, or measure_lengths(...)."
        )
