"""Means and deviations that belong to images of another range of values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

_LARGEST = 255


def remark_on_ranges(mean: str, deviation: str) -> Callable[[Mapping[str, Any], str], str]:
    """Return a remark on constants for values up to 1 where images are uint8.

    Parameters
    ----------
    mean, deviation : str
        Names of the arguments.
    """

    def remark(arguments: Mapping[str, Any], element_type: str) -> str:
        means = _numbers(arguments.get(mean))
        # Fractions of 1 are no means of integers up to 255, unless images are black.
        if element_type != "UINT8" or not means or not all(0 <= value <= 1 for value in means):
            return ""
        if all(value in (0, 1) for value in means):
            return ""
        given = {mean: means, deviation: _numbers(arguments.get(deviation))}
        text = ", ".join(
            f"{name}={_text([value * _LARGEST for value in values])}"
            for name, values in given.items()
            if values and all(0 <= value <= 1 for value in values) and values != [1.0]
        )
        return (
            f"{mean} must be in the range of the images, which are uint8, from 0 to {_LARGEST} "
            f"(got {mean}={_text(means)}, as for images from 0 to 1). Pass {_LARGEST} times as "
            f"much: {text}."
        )

    return remark


def _numbers(value: Any) -> list[float]:
    if isinstance(value, Sequence):
        return [float(number) for number in value]
    return [float(value)] if isinstance(value, (int, float)) else []


def _text(values: Sequence[float]) -> str:
    numbers = ", ".join(f"{value:.6g}" for value in values)
    return f"[{numbers}]" if len(values) > 1 else numbers
