"""Places of sequences in a packed row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_EXTENT = 2**31 - 1
"""Of a row: places in it have 32 bits."""

_Numbers = NDArray[np.int32]


class Row(NamedTuple):
    """A row of sequences, none of them empty.

    Attributes
    ----------
    samples, starts, lengths : array of int32
        For each sequence the number of its sample, its place in the row, and how many elements of
        it are in the row.
    borders : array of int32
        The places of segments, and the end of the last one.
    extent : int
        The number of elements of the row.
    """

    samples: _Numbers
    starts: _Numbers
    lengths: _Numbers
    borders: _Numbers
    extent: int

    @property
    def longest(self) -> np.int32:
        """The most elements of a segment."""
        longest: np.int32 = np.diff(self.borders).max(initial=0)
        return longest

    def spans(self) -> Iterator[tuple[int, int, int]]:
        """Return the sample of each sequence, and its start and end in the row."""
        starts, lengths = self.starts.tolist(), self.lengths.tolist()
        for sample, start, length in zip(self.samples.tolist(), starts, lengths, strict=True):
            yield sample, start, start + length

    def segment_ids(self) -> _Numbers:
        """Return the number of the sequence of each element, from 1; 0 for padding."""
        ids = np.zeros(self.extent, np.int32)
        for number, (_, start, end) in enumerate(self.spans(), 1):
            ids[start:end] = number
        return ids

    def position_ids(self) -> _Numbers:
        """Return the place of each element in its sequence; 0 for padding."""
        counted = np.arange(self.lengths.max(initial=0), dtype=np.int32)
        positions = np.zeros(self.extent, np.int32)
        for _, start, end in self.spans():
            positions[start:end] = counted[: end - start]
        return positions

    def loss_mask(self) -> NDArray[np.bool_]:
        """Return whether each element follows another one of its sequence."""
        mask = np.zeros(self.extent, np.bool_)
        for _, start, end in self.spans():
            mask[start + 1 : end] = True
        return mask


def make_row(
    samples: Sequence[int],
    starts: Sequence[int],
    lengths: Sequence[int],
    *,
    extent: int | None,
    pad_to: int,
    has_padding_segment: bool,
) -> Row:
    """Make a row.

    Parameters
    ----------
    samples, starts, lengths : sequence of int
        See `Row`.
    extent : int, optional
        The number of elements; by default as many as are needed, rounded up to `pad_to`.
    pad_to : int
        Number of which borders are multiples.
    has_padding_segment : bool
        Whether the rest of the row is a segment.
    """
    end = -(-(starts[-1] + lengths[-1]) // pad_to) * pad_to if samples else 0
    extent = end if extent is None else extent
    borders = [*starts, min(end, extent)]
    if has_padding_segment and borders[-1] < extent:
        borders.append(extent)
    return Row(
        np.array(samples, np.int32),
        np.array(starts, np.int32),
        np.array(lengths, np.int32),
        np.array(borders, np.int32),
        extent,
    )
