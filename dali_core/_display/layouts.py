"""Layouts of arrays that have none: guessed by their shapes."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

_SMALLEST_MAP = 8


def layout_or_guess(array: NDArray[Any], layout: str) -> str:
    """Return a layout, or a guess by the shape where there is none; or an empty text."""
    shape = array.shape
    if len(layout) == array.ndim:
        return layout
    if array.ndim == 3 and shape[2] in (1, 3, 4) and min(shape[:2]) >= _SMALLEST_MAP:
        return "HWC"
    if array.ndim == 3 and shape[0] in (1, 3, 4) and min(shape[1:]) >= _SMALLEST_MAP:
        return "CHW"
    if array.ndim == 4 and shape[3] in (1, 3) and min(shape[1:3]) >= _SMALLEST_MAP:
        return "FHWC"
    if array.ndim == 2 and min(shape) >= _SMALLEST_MAP:
        return "HW" if array.dtype.kind in "bui" else "ft"
    return ""


def channels_last(array: NDArray[Any], layout: str) -> NDArray[Any]:
    """Return an image with the dimensions height, width and channels."""
    order = [layout.index(letter) for letter in "HWC" if letter in layout]
    image: NDArray[Any] = array.transpose(order)
    return image if image.ndim == 3 else image[..., None]
