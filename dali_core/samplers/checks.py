"""Checks of indices, weights and lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core.errors import ArgumentTypeError, ArgumentValueError


def checked(indices: Any, what: str) -> NDArray[np.int64]:
    """Return an array of integers, at least one; raise if it is something else."""
    array = np.asarray(indices)
    if array.ndim != 1 or array.dtype.kind not in "iu" or not array.size:
        got = "none" if not array.size else f"shape {array.shape} of {array.dtype}"
        error = ArgumentValueError if not array.size else ArgumentTypeError
        raise error(
            f"sampler: {what} must be a one-dimensional array of integers, at least one (got "
            f"{got}). Pass such an array."
        )
    if array.dtype.kind == "u" and int(array.max()) > _LARGEST:
        raise ArgumentValueError(
            f"sampler: {what} must be integers of 64 bits (got {array.max()}). Pass smaller ones."
        )
    return np.ascontiguousarray(array, np.int64)


def check_range(indices: NDArray[np.int64], num_samples: int) -> None:
    """Raise unless all indices are those of samples."""
    is_bad = (indices < 0) | (indices >= num_samples)
    if is_bad.any():
        place = int(np.argmax(is_bad))
        raise ArgumentValueError(
            f"sampler: indices must be from 0 to {num_samples - 1}, those of the reader's "
            f"{num_samples} samples (got {indices[place]} at place {place}). Fix the sampler."
        )


def check_weights(weights: NDArray[np.float64]) -> None:
    """Raise unless weights are numbers from 0 on, of which one is positive."""
    if weights.ndim != 1 or not weights.size:
        raise ArgumentTypeError(
            f"sampler: weights must be a one-dimensional array (got shape {weights.shape}). Pass a "
            "weight for each sample."
        )
    is_bad = ~(np.isfinite(weights) & (weights >= 0))
    if is_bad.any():
        place = int(np.argmax(is_bad))
        raise ArgumentValueError(
            f"sampler: weights must be finite numbers from 0 on (got {weights[place]} for sample "
            f"{place}). Fix the weights."
        )
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not 0 < total < np.inf:
        raise ArgumentValueError(
            f"sampler: weights must have a positive and finite sum (got {total}). Scale them."
        )


def checked_length(
    length: int | None, default: int, most: int | None = None, name: str = "length"
) -> int:
    """Return a number of samples, or the default for None; raise if it is none from 1 to most."""
    if length is None:
        return default
    if not hasattr(length, "__index__") or isinstance(length, bool):
        raise ArgumentTypeError(f"sampler: {name} must be an integer (got {length!r}). Pass one.")
    number = length.__index__()
    if number < 1 or (most is not None and number > most):
        rule = "at least 1" if most is None else f"from 1 to {most}"
        raise ArgumentValueError(
            f"sampler: {name} must be {rule} (got {number}). Pass such a number."
        )
    return number


_LARGEST = 2**63 - 1
