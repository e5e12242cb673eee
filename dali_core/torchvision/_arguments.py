"""Checks of arguments of transforms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dali_core.errors import ArgumentFormError, ArgumentTypeError, ArgumentValueError
from dali_core.torchvision._resampling import PADDING_MODES, as_integers


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number, and no truth value."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def probability(value: Any, what: str) -> float:
    """Check that a number is in [0, 1].

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If it is no number, or outside.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ArgumentFormError(
            f"torchvision.{what}: p must be a number (got {value!r:.60}). Pass a probability."
        )
    if not 0 <= value <= 1:
        raise ArgumentValueError(
            f"torchvision.{what}: p must be from 0 to 1 (got {value}). Pass a probability."
        )
    return float(value)


def numbers(values: Any, what: str, name: str) -> list[float]:
    """Return the numbers of one number or a sequence.

    Raises
    ------
    ArgumentFormError
        If one is no finite number.
    """
    found = list(values) if isinstance(values, (list, tuple)) else [values]
    for value in found:
        if not is_number(value):
            raise ArgumentFormError(
                f"torchvision.{what}: {name} must be made of finite numbers (got {values!r:.60}). "
                "Convert it."
            )
    return [float(value) for value in found]


def pair(
    values: Any, what: str, name: str, low: float, high: float = math.inf
) -> tuple[float, float]:
    """Return a range: two numbers in order, within limits.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If it is none.
    """
    if not isinstance(values, (list, tuple)):
        raise ArgumentTypeError(
            f"torchvision.{what}: {name} must be a pair of numbers (got {values!r:.60})."
        )
    found = numbers(values, what, name)
    if len(found) != 2 or not low <= found[0] <= found[1] <= high:
        raise ArgumentValueError(
            f"torchvision.{what}: {name} must be two numbers in ascending order, from {low:g} to "
            f"{high:g} (got {values!r:.60})."
        )
    return found[0], found[1]


def padding(values: Any, what: str) -> tuple[int, int, int, int]:
    """Return the padding on the left, at the top, on the right and at the bottom.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If it is none of one, two or four integers that are not negative.
    """
    found = as_integers(values, what, "padding")
    if len(found) not in (1, 2, 4):
        raise ArgumentFormError(
            f"torchvision.{what}: padding must be one, two or four numbers (got {values!r:.60})."
        )
    if min(found) < 0:
        raise ArgumentValueError(
            f"torchvision.{what}: padding must not be negative (got {values!r:.60}). Use a crop."
        )
    if len(found) == 1:
        found *= 4
    elif len(found) == 2:
        found *= 2
    return found[0], found[1], found[2], found[3]


def padding_mode(value: Any, what: str) -> str:
    """Check the name of a way to pad.

    Raises
    ------
    ArgumentValueError
        If there is none such.
    """
    if value not in PADDING_MODES:
        raise ArgumentValueError(
            f"torchvision.{what}: padding_mode must be one of {', '.join(PADDING_MODES)} (got "
            f"{value!r:.60})."
        )
    return str(value)


def fill(value: Any, what: str) -> float | Sequence[float] | None:
    """Check the value of padding: a number, one for each channel, or None.

    Raises
    ------
    ArgumentTypeError
        If it is something else.
    """
    if value is None or is_number(value):
        return value  # type: ignore[no-any-return]
    if isinstance(value, (list, tuple)) and value and all(map(is_number, value)):
        return list(value)
    raise ArgumentTypeError(
        f"torchvision.{what}: fill must be a number, or one for each channel (got {value!r:.60})."
    )
