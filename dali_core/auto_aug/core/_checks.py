"""Checks of arguments that all schemes of automatic augmentation share."""

from __future__ import annotations

import operator
from typing import TypeGuard

from dali_core.errors import ArgumentTypeError, ArgumentValueError

SELECTION_SEED, SIGN_SEED, PROBABILITY_SEED, BIN_SEED = range(4)


def is_integer(value: object) -> TypeGuard[int]:
    """Return whether a value is a plain integer."""
    return isinstance(value, int)


def derived_seed(seed: int | None, purpose: int) -> int:
    """Return the argument `seed` of an operator that draws for one of four purposes.

    Random operators with equal seeds draw equal numbers. So what is drawn for different purposes
    has seeds of its own, which follow from the seed that a user gave.

    Parameters
    ----------
    seed : int or None
        The user's seed. None and negative ones leave the choice to the pipeline.
    purpose : int
        0 to 3.
    """
    if seed is None:
        return -1
    try:
        number = operator.index(seed)
    except TypeError as error:
        raise ArgumentTypeError(
            f"auto_aug: argument 'seed' must be an integer (got {seed!r}). Pass an int, or leave "
            "it out to derive it from the pipeline's seed."
        ) from error
    return -1 if number < 0 else (4 * number + purpose) % 2**63


def check_bins(where: str, num_magnitude_bins: int) -> None:
    """Check a number of magnitude bins."""
    if not is_integer(num_magnitude_bins) or num_magnitude_bins < 1:
        raise ArgumentValueError(
            f"{where}: argument 'num_magnitude_bins' must be a positive integer (got "
            f"{num_magnitude_bins!r}). Pass one, such as 31."
        )
