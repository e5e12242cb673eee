"""Differences of two batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

KINDS = {
    **dict.fromkeys(("INT32", "UINT32", "INT64", "UINT64"), "wide"),
    **dict.fromkeys(("FLOAT", "FLOAT64"), "floating"),
    "FLOAT16": "half",
}


@dataclass(frozen=True)
class Batch:
    """A copy of one output."""

    samples: tuple[np.ndarray, ...]
    dtype: str
    layout: str

    @classmethod
    def copy(cls, tensors: Any) -> Batch:
        samples = tuple(np.array(tensors.at(i)) for i in range(len(tensors)))
        return cls(samples, str(getattr(tensors.dtype, "name", tensors.dtype)), tensors.layout())


@dataclass(frozen=True)
class Described:
    """The largest difference of two batches.

    Attributes
    ----------
    same_kind : bool
        Whether number, types and layouts of samples agree.
    is_alike : bool
        Whether their shapes agree, too; the rest holds only then.
    kind : str
        ``"integer"`` (up to 16 bits), ``"wide"`` (integers of 32 and 64 bits), ``"half"`` (16-bit
        floating point) or ``"floating"``.
    largest : float
        Largest absolute difference of two elements.
    relative : float
        The largest difference divided by the largest finite magnitude in the batch.
    share : float
        Share of the batch's elements that differ.
    """

    same_kind: bool
    is_alike: bool
    kind: str = "integer"
    largest: float = 0.0
    relative: float = 0.0
    share: float = 0.0


def describe(ours: Batch, theirs: Batch) -> Described:
    """Compare two batches."""
    kinds = [(len(batch.samples), batch.dtype, batch.layout) for batch in (ours, theirs)]
    shapes = [[sample.shape for sample in batch.samples] for batch in (ours, theirs)]
    if kinds[0] != kinds[1] or shapes[0] != shapes[1]:
        return Described(same_kind=kinds[0] == kinds[1], is_alike=False)
    largest = size = 0.0
    different = 0
    for mine, expected in zip(ours.samples, theirs.samples, strict=True):
        differences = all_differences(mine, expected)
        different += differences.size
        largest = max(largest, float(differences.max(initial=0)))
        wide = expected.astype(np.float64)
        size = max(size, float(np.abs(wide[np.isfinite(wide)]).max(initial=0)))
    relative = 0.0 if largest == 0 else largest / size if size else float("inf")
    share = different / max(1, sum(sample.size for sample in ours.samples))
    return Described(True, True, KINDS.get(ours.dtype, "integer"), largest, relative, share)


def all_differences(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Return the absolute differences that are not 0; infinite where one is not finite."""
    wide = np.longdouble if ours.dtype.kind in "fiu" else np.int8
    mine, expected = ours.astype(wide), theirs.astype(wide)
    same = mine == expected
    if wide is np.longdouble:
        same |= np.isnan(mine) & np.isnan(expected)
    with np.errstate(invalid="ignore"):
        differences = np.abs(mine[~same] - expected[~same])
    finite_or_infinite: np.ndarray = np.nan_to_num(differences, nan=np.inf, posinf=np.inf)
    return finite_or_infinite
