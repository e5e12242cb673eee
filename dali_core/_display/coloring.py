"""Turns arrays into 8-bit images: photos, label maps, spectrograms and waveforms."""

from __future__ import annotations

import colorsys
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Image8: TypeAlias = "NDArray[np.uint8]"
"""An image of shape (height, width, 3)."""

_WAVE_HEIGHT, _WAVE_WIDTH = 96, 224
_WAVE, _PAPER, _AXIS = (31, 98, 158), (255, 255, 255), (190, 198, 206)
_GOLDEN_RATIO = 0.618033988749895
# From low to high: dark blue, teal, green, yellow. Lightness grows all the way.
_MAP = np.array([(24, 16, 58), (36, 80, 132), (32, 144, 140), (122, 200, 88), (250, 232, 60)])


def photo(array: NDArray[Any]) -> tuple[Image8, str]:
    """Make an image viewable.

    uint8 stays as it is, and so do floats of which all are between 0 and 1 (times 255) or between 0
    and 255. Everything else, such as a normalized image, is stretched linearly from its smallest to
    its largest finite number, with the same scale for all channels. NaN becomes black.

    Parameters
    ----------
    array : array of shape (height, width, channels)
        The image; of one channel it is gray, of two blue is missing, and of more than three the
        first three are shown.

    Returns
    -------
    uint8 array of shape (height, width, 3), and str
        The image, and how numbers were scaled; empty if they were not.
    """
    values, text = _to_bytes(array)
    channels = values.shape[2]
    if channels == 1:
        return np.repeat(values, 3, axis=2), text
    if channels == 2:
        values = np.concatenate([values, np.zeros_like(values[..., :1])], axis=2)
    return np.ascontiguousarray(values[..., :3]), text


def _to_bytes(array: NDArray[Any]) -> tuple[Image8, str]:
    if array.dtype == np.uint8:
        return array, ""
    values = array.astype(np.float64)
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return np.zeros(array.shape, np.uint8), "no finite numbers"
    low, high = float(finite.min()), float(finite.max())
    is_float = array.dtype.kind == "f"
    if low >= 0 and high <= 1 and is_float:
        low, high, text = 0.0, 1.0, "0 to 1"
    elif low >= 0 and high <= 255:
        low, high, text = 0.0, 255.0, "0 to 255"
    else:
        text = f"{low:.3g} to {high:.3g}"
    values = np.nan_to_num(values, nan=low, posinf=high, neginf=low)
    scale = 255 / (high - low) if high > low else 0.0
    return np.clip(np.rint((values - low) * scale), 0, 255).astype(np.uint8), text


def label_map(array: NDArray[Any]) -> Image8:
    """Give every number of a mask of shape (height, width) a color of its own; 0 is black."""
    labels, places = np.unique(array, return_inverse=True)
    colors = np.array([_label_color(int(label)) for label in labels], np.uint8)
    return colors[places.reshape(array.shape)]


def _label_color(label: int) -> tuple[int, int, int]:
    if label == 0:
        return 0, 0, 0
    red, green, blue = colorsys.hsv_to_rgb(label * _GOLDEN_RATIO % 1.0, 0.65, 0.95)
    return round(red * 255), round(green * 255), round(blue * 255)


def heat_map(array: NDArray[Any]) -> tuple[Image8, str]:
    """Color numbers of shape (rows, columns) from dark blue to yellow, with row 0 at the bottom."""
    values = array.astype(np.float64)[::-1]
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    values = np.nan_to_num(values, nan=low, posinf=high, neginf=low)
    share = (values - low) / (high - low) if high > low else np.zeros_like(values)
    stops = np.linspace(0.0, 1.0, len(_MAP))
    colors = np.stack([np.interp(share, stops, _MAP[:, i]) for i in range(3)], axis=-1)
    return np.rint(colors).astype(np.uint8), f"{low:.3g} to {high:.3g}"


def waveform(array: NDArray[Any]) -> Image8:
    """Draw the smallest and largest number of each column of a signal of shape (samples,)."""
    values = np.nan_to_num(array.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    largest = float(np.abs(values).max(initial=0.0)) or 1.0
    image = np.full((_WAVE_HEIGHT, _WAVE_WIDTH, 3), _PAPER, np.uint8)
    middle = (_WAVE_HEIGHT - 1) / 2
    image[round(middle)] = _AXIS
    edges = np.linspace(0, len(values), _WAVE_WIDTH + 1).astype(int)
    for column in range(_WAVE_WIDTH):
        # With the number before, so that the line has no gaps.
        part = values[max(0, edges[column] - 1) : max(edges[column + 1], edges[column] + 1)]
        if len(part) == 0:
            continue
        top = round(middle - float(part.max()) / largest * middle)
        bottom = round(middle - float(part.min()) / largest * middle)
        image[top : bottom + 1, column] = _WAVE
    return image
