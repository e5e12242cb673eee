"""Expected results of warps, in double precision and with NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

WARP_TYPES = ["uint8", "int16", "uint16", "int32", "float32"]
OTHER_TYPES = ["int8", "uint32", "int64", "uint64", "float16", "float64", "bool"]


def source_coordinates(matrix: npt.ArrayLike, size: Sequence[int]) -> Numbers:
    """Return the positions of the centres of output pixels in the input.

    The result has the order x, y, z along its last dimension; `size` is in the order z, y, x.
    """
    rows = np.asarray(matrix, dtype=np.float64)
    rows = rows.reshape(len(size), len(size) + 1)
    centres = np.stack(np.meshgrid(*[np.arange(n) + 0.5 for n in size], indexing="ij")[::-1], -1)
    return centres @ rows[:, :-1].T + rows[:, -1]


def nearest(image: np.ndarray, coordinates: Numbers, fill: float | None) -> np.ndarray:
    """Return the nearest pixels of coordinates; with None, those at the border are repeated."""
    index = np.floor(coordinates).astype(int)[..., ::-1]
    extent = np.array(image.shape[:-1])
    within = np.clip(index, 0, extent - 1)
    result = image[tuple(np.moveaxis(within, -1, 0))]
    if fill is not None:
        result[(index != within).any(-1)] = fill
    return result


def linear(image: np.ndarray, coordinates: Numbers, fill: float | None) -> Numbers:
    """Interpolate between the centres of pixels."""
    first = np.floor(coordinates - 0.5)
    weights = coordinates - 0.5 - first
    total = np.zeros((*coordinates.shape[:-1], image.shape[-1]))
    for corner in itertools.product((0, 1), repeat=coordinates.shape[-1]):
        share = np.prod(np.where(corner, weights, 1 - weights), axis=-1)
        total += share[..., None] * nearest(
            image.astype(np.float64), first + np.array(corner) + 0.5, fill
        )
    return total


def check_warped(result: np.ndarray, exact: Numbers, dtype: str) -> None:
    """Check that a result is `exact`, rounded and saturated; halves may be rounded either way."""
    assert result.dtype == dtype
    assert result.shape == exact.shape
    largest = max(1.0, float(np.abs(exact).max(initial=0.0)))
    if result.dtype.kind == "f":
        np.testing.assert_allclose(result, exact, rtol=0, atol=largest * 1e-4)
        return
    limits = np.iinfo(result.dtype)
    clipped = np.clip(exact, limits.min, limits.max)
    assert np.abs(result - clipped).max(initial=0.0) <= 0.5 + largest * 1e-4
