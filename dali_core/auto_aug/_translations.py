"""The two translations of a suite, with their ranges."""

from __future__ import annotations

import numbers
from typing import Any

from dali_core.auto_aug import augmentations
from dali_core.auto_aug.core._augmentation import Augmentation
from dali_core.errors import ArgumentConflictError, ArgumentFormError


def translations(
    use_shape: bool,
    default_abs: float,
    default_rel: float,
    max_translate_abs: Any,
    max_translate_rel: Any,
) -> list[Augmentation]:
    """Return the translations along x and along y.

    Parameters
    ----------
    use_shape : bool
        Whether offsets are relative to the shape of a sample.
    default_abs, default_rel : float
        The largest offset if the user gave none: in pixels, and relative to the shape.
    max_translate_abs, max_translate_rel : number or (number, number), optional
        The largest offset, or those along height and width. Only one of them fits `use_shape`.
    """
    chosen, refused = (
        (("max_translate_rel", max_translate_rel), ("max_translate_abs", max_translate_abs))
        if use_shape
        else (("max_translate_abs", max_translate_abs), ("max_translate_rel", max_translate_rel))
    )
    if refused[1] is not None:
        circumstance = "with" if use_shape else "without"
        raise ArgumentConflictError(
            f"auto_aug: argument {refused[0]!r} must not be passed {circumstance} shapes of "
            f"samples (got {refused[1]!r}). Pass {chosen[0]!r} instead."
        )
    largest = chosen[1]
    if largest is None:
        largest = default_rel if use_shape else default_abs
    height, width = _pair(chosen[0], largest)
    along_x, along_y = (
        (augmentations.translate_x, augmentations.translate_y)
        if use_shape
        else (augmentations.translate_x_no_shape, augmentations.translate_y_no_shape)
    )
    return [
        along_x.augmentation(mag_range=(0, width)),
        along_y.augmentation(mag_range=(0, height)),
    ]


def _pair(name: str, largest: Any) -> tuple[float, float]:
    pair = largest if isinstance(largest, (list, tuple)) else (largest, largest)
    if len(pair) != 2 or not all(isinstance(number, numbers.Real) for number in pair):
        raise ArgumentFormError(
            f"auto_aug: argument {name!r} must be a number, or one for the height and one for the "
            f"width (got {largest!r}). Pass one or two numbers."
        )
    return pair[0], pair[1]
