"""Lengths of samples: checked where they are used, since there may be a billion of them."""

from __future__ import annotations

import mmap
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dali_core.errors import ArgumentTypeError, ArgumentValueError

MOST_READ = 1 << 20
"""Lengths that are looked at all; of more than these, some."""
_NUM_BLOCKS = 256
_BLOCK = 256


class Lengths:
    """The lengths of all samples, in one kind or several (tokens and images, source and target).

    Parameters
    ----------
    lengths : array of int, shape (samples,) or (samples, kinds), or tuple of arrays (samples,)
        Not negative. It may be memory-mapped: no copy is made, and only what a window needs is
        read. A tuple has an array for each kind.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If it is no array of integers with one or two dimensions, or its arrays differ in length.
    """

    def __init__(self, lengths: ArrayLike | tuple[ArrayLike, ...]) -> None:
        is_tuple = isinstance(lengths, tuple) and not all(np.ndim(one) == 0 for one in lengths)
        kinds: Sequence[Any] = lengths if is_tuple else [lengths]  # type: ignore[assignment]
        self._columns = [_checked(kind, 1 if is_tuple else 2) for kind in kinds]
        sizes = {len(column) for column in self._columns}
        if len(sizes) > 1:
            raise ArgumentValueError(
                "lengths: all kinds must have an entry for each sample (got "
                f"{[len(column) for column in self._columns]} entries). Pass arrays of one size."
            )
        self.num_samples = sizes.pop()
        self._fingerprint: str | None = None
        self.num_kinds = sum(column.shape[1] for column in self._columns)

    def of(self, samples: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the lengths of some samples, shape (samples, kinds).

        Raises
        ------
        ArgumentValueError
            If a length is negative; the error names the sample.
        """
        parts = [np.asarray(column[samples], np.int64) for column in self._columns]
        found = np.ascontiguousarray(parts[0] if len(parts) == 1 else np.hstack(parts))
        if found.size and found.min() < 0:
            row = int(np.flatnonzero((found < 0).any(axis=1))[0])
            raise ArgumentValueError(
                f"lengths: must not be negative (got {found[row].tolist()} for sample "
                f"{samples[row]}). Correct the lengths."
            )
        return found

    def expect_random_reads(self) -> None:
        """Have the system read single pages of mapped files, as a random order needs them.

        Else it reads far ahead of each length, and the first window of a large file takes seconds.
        """
        for column in self._columns:
            base: Any = column
            while isinstance(base, np.ndarray):
                base = base.base
            if isinstance(base, mmap.mmap) and hasattr(mmap, "MADV_RANDOM"):
                base.madvise(mmap.MADV_RANDOM)

    def some(self) -> NDArray[np.int64]:
        """Return lengths of evenly spaced samples, or of all if there are few."""
        step = max(1, self.num_samples // MOST_READ)
        return self.of(np.arange(0, self.num_samples, step, dtype=np.int64))

    def largest(self) -> int:
        """Return the largest length of the first kind, or 0 if there are no samples."""
        column = self._columns[0][:, 0]
        parts = range(0, self.num_samples, MOST_READ)
        return max((int(column[start : start + MOST_READ].max()) for start in parts), default=0)

    def _blocks(self) -> NDArray[np.int64]:
        """Return evenly spaced blocks of lengths, which are on few pages of a mapped file."""
        starts = np.linspace(0, self.num_samples - _BLOCK, _NUM_BLOCKS).astype(np.int64)
        return self.of((starts[:, None] + np.arange(_BLOCK)).reshape(-1))

    def fingerprint(self) -> str:
        """Return a text by which saved states recognise the lengths."""
        if self._fingerprint is None:
            found = self.some() if self.num_samples <= MOST_READ else self._blocks()
            checksum = zlib.crc32(found.data)
            self._fingerprint = f"{self.num_samples}x{self.num_kinds}-{checksum:08x}"
        return self._fingerprint


def _checked(lengths: Any, most_dimensions: int) -> NDArray[Any]:
    array = np.asarray(lengths)
    if array.size == 0 and array.dtype == np.float64:
        array = array.astype(np.int64)  # an empty list
    if array.dtype.kind not in "iu":
        raise ArgumentTypeError(
            f"lengths: must be integers (got {array.dtype}). Round seconds to a unit, such as "
            "milliseconds or frames."
        )
    if not 1 <= array.ndim <= most_dimensions:
        raise ArgumentValueError(
            f"lengths: must be an array of shape (samples,) or (samples, kinds) (got shape "
            f"{array.shape}). Pass one entry for each sample."
        )
    return array[:, np.newaxis] if array.ndim == 1 else array
