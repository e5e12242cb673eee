"""Tensors and batches in notebooks: shape, type and layout, with pictures or numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._display.coloring import Image8, heat_map, photo
from dali_core._display.html import Markup, block, image, table
from dali_core._display.layouts import channels_last, layout_or_guess
from dali_core._display.png import png_url, thumbnail

_MOST_SAMPLES = 8
_MOST_SHAPES = 8
_MOST_NUMBERS = 12
_SIDE = 128


def html_of_batch(
    kind: str,
    samples: Sequence[NDArray[Any]],
    shapes: Sequence[Sequence[int]],
    dtype: object,
    layout: str,
) -> str:
    """Show a batch.

    Parameters
    ----------
    kind : str
        Name of its class.
    samples : sequence of array
        The first few samples, on the host; empty if they are elsewhere.
    shapes : sequence of sequence of int
        The shapes of all samples.
    dtype : object
        Type of the elements.
    layout : str
        Meaning of the dimensions; empty if it is not known.

    Returns
    -------
    str
        HTML: a table, and pictures of images and spectrograms, or the numbers of small samples.
    """
    rows: list[tuple[object, object]] = [
        ("samples", len(shapes)),
        ("shape of a sample", _shapes(shapes)),
        ("type", dtype),
        ("layout", layout or "none"),
    ]
    pictures = list(_pictures(samples, layout))
    if not pictures:
        rows += [(f"sample {i}", numbers_text(sample)) for i, sample in enumerate(samples)]
    left = len(shapes) - len(samples)
    more = [f"and {left} more"] if samples and left else []
    return block(table((), rows, caption=kind), *pictures, *more)


def most_shown() -> int:
    """Return how many samples of a batch are shown."""
    return _MOST_SAMPLES


def as_picture(array: NDArray[Any], layout: str) -> Image8 | None:
    """Return an image, the first frame of a sequence, or a spectrogram as a picture.

    Parameters
    ----------
    array : array
        The sample.
    layout : str
        Meaning of its dimensions; empty to guess.

    Returns
    -------
    uint8 array of shape (height, width, 3), or None
        None if it is none of these.
    """
    if not array.size or array.dtype.kind not in "buif":
        return None
    layout = layout_or_guess(array, layout)
    for axis in "FD":
        if axis in layout and {"H", "W"} <= set(layout):
            array = np.take(array, 0, axis=layout.index(axis))
            layout = layout.replace(axis, "")
    if set(layout) in ({"H", "W"}, {"H", "W", "C"}) and len(layout) == array.ndim:
        return photo(channels_last(array, layout))[0]
    if layout in ("ft", "tf"):
        return heat_map(array if layout == "ft" else array.T)[0]
    return None


def numbers_text(array: NDArray[Any]) -> str:
    """Return the numbers of a small array, or their range and mean."""
    if array.size == 0:
        return "empty"
    if array.size <= _MOST_NUMBERS or array.dtype.kind not in "buif":
        return np.array2string(array, precision=4, separator=", ", threshold=_MOST_NUMBERS)
    values = array.astype(np.float64)
    return f"from {values.min():.4g} to {values.max():.4g}, mean {values.mean():.4g}"


def _pictures(samples: Sequence[NDArray[Any]], layout: str) -> Iterator[Markup]:
    for number, sample in enumerate(samples):
        picture = as_picture(sample, layout)
        if picture is not None:
            small = thumbnail(picture, _SIDE)
            height, width = small.shape[:2]
            yield image(png_url(small), width, height, f"sample {number}")


def _shapes(shapes: Sequence[Sequence[int]]) -> str:
    different = list(dict.fromkeys(tuple(shape) for shape in shapes))
    texts = [" x ".join(map(str, shape)) or "scalar" for shape in different[:_MOST_SHAPES]]
    more = len(different) - len(texts)
    return ", ".join(texts) + (f" and {more} more" if more else "")
