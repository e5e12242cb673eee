"""Transforms that resize, cut, pad and mirror."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dali_core.errors import ArgumentValueError
from dali_core.torchvision import _arguments as arguments
from dali_core.torchvision import _resampling as resampling
from dali_core.torchvision._draws import Draws
from dali_core.torchvision._pictures import Picture
from dali_core.torchvision._resampling import InterpolationMode, as_integers, as_interpolation
from dali_core.torchvision._resampling import as_size as as_extents
from dali_core.torchvision._transform import Transform

Size = int | Sequence[int]


def resized_size(
    height: int, width: int, size: Sequence[int] | None, max_size: int | None
) -> tuple[int, int]:
    """Return the size that an image is resized to.

    Parameters
    ----------
    height, width : int
        Size of the image.
    size : sequence of int, optional
        The shorter side, or height and width.
    max_size : int, optional
        The longest that the longer side may be; without `size`, what it is.
    """
    if size is not None and len(size) == 2:
        return size[0], size[1]
    short, long = sorted((height, width))
    if size is None:
        assert max_size is not None
        new_short, new_long = int(max_size * short / long), max_size
    else:
        new_short, new_long = size[0], int(size[0] * long / short)
        if max_size is not None and new_long > max_size:
            new_short, new_long = int(max_size * new_short / new_long), max_size
    new_short = max(new_short, 1)
    return (new_short, new_long) if height <= width else (new_long, new_short)


def checked_size(size: Any, max_size: Any, what: str) -> list[int] | None:
    """Check size and largest size of `Resize`.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If they are no positive integers, or contradict each other.
    """
    if max_size is not None:
        (largest,) = as_integers(max_size, what, "max_size")[:1]
        if largest < 1:
            raise ArgumentValueError(
                f"torchvision.{what}: max_size must be positive (got {max_size!r:.60})."
            )
    if size is None:
        if max_size is None:
            raise ArgumentValueError(
                f"torchvision.{what}: size or max_size must be given (got neither)."
            )
        return None
    as_extents(size, what)
    found = as_integers(size, what, "size")
    if max_size is not None and len(found) == 2:
        raise ArgumentValueError(
            f"torchvision.{what}: max_size needs a size of one number (got {size!r:.60}). Leave "
            "it out."
        )
    if max_size is not None and max_size <= found[0]:
        raise ArgumentValueError(
            f"torchvision.{what}: max_size must be larger than size (got {max_size} and "
            f"{found[0]})."
        )
    return found


class Resize(Transform):
    """Resize images.

    Parameters
    ----------
    size : int, sequence of int or None
        The shorter side in pixels, or height and width; None for a longer side of `max_size`.
    interpolation : InterpolationMode
        The filter.
    max_size : int, optional
        The longest that the longer side may be.
    antialias : bool
        Whether filters are widened where an image gets smaller; always for images of Pillow.
    device : str
        ``"cpu"``.
    """

    engine = "native (bicubic tensors without antialias by PyTorch, opacity by Pillow)"

    def __init__(
        self,
        size: Size | None,
        interpolation: InterpolationMode = InterpolationMode.BILINEAR,
        max_size: int | None = None,
        antialias: bool | None = True,
        device: str = "cpu",
    ) -> None:
        super().__init__(device)
        self.size = checked_size(size, max_size, "Resize")
        self.interpolation = as_interpolation(interpolation, "Resize")
        self.max_size = max_size
        self.antialias = antialias is None or bool(antialias)

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        size = resized_size(picture.height, picture.width, self.size, self.max_size)
        return resampling.resize(picture, *size, self.interpolation, self.antialias)


class CenterCrop(Transform):
    """Cut out the middle; what is larger than the image is filled with 0.

    Parameters
    ----------
    size : int or sequence of int
        Height and width, or one number for both.
    device : str
        ``"cpu"``.
    """

    def __init__(self, size: Size, device: str = "cpu") -> None:
        super().__init__(device)
        self.size = as_extents(size, "CenterCrop")

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        return resampling.center_crop(picture, *self.size)


class RandomCrop(Transform):
    """Cut out a window at a random place.

    Parameters
    ----------
    size : int or sequence of int
        Height and width, or one number for both.
    padding : int or sequence of int, optional
        What is added before: on all sides, on left and top, or left, top, right and bottom.
    pad_if_needed : bool
        Whether images that are too small are padded.
    fill : float, or sequence of float
        Value of the padding.
    padding_mode : str
        ``"constant"``, ``"edge"``, ``"reflect"`` or ``"symmetric"``.
    device : str
        ``"cpu"``.
    """

    def __init__(
        self,
        size: Size,
        padding: Size | None = None,
        pad_if_needed: bool = False,
        fill: float | Sequence[float] | None = 0,
        padding_mode: str = "constant",
        device: str = "cpu",
    ) -> None:
        super().__init__(device)
        self.size = as_extents(size, "RandomCrop")
        self.padding = None if padding is None else arguments.padding(padding, "RandomCrop")
        self.pad_if_needed = bool(pad_if_needed)
        self.fill = arguments.fill(fill, "RandomCrop")
        self.padding_mode = arguments.padding_mode(padding_mode, "RandomCrop")

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        left, top, right, bottom = self.padding or (0, 0, 0, 0)
        extents = [picture.height + top + bottom, picture.width + left + right]
        starts = [-top, -left]
        for axis, wanted in enumerate(self.size):
            missing = wanted - extents[axis]
            if missing > 0 and self.pad_if_needed:
                extents[axis] += 2 * missing
                starts[axis] -= missing
            elif missing > 0:
                raise ArgumentValueError(
                    f"torchvision.RandomCrop: the image must not be smaller than the window (got "
                    f"{tuple(extents)} with padding, and {self.size}). Pass pad_if_needed=True."
                )
        for axis, wanted in enumerate(self.size):
            if extents[axis] > wanted:
                starts[axis] += draws.integer(0, extents[axis] - wanted + 1)
        top, left = starts
        return resampling.crop(picture, top, left, *self.size, self.fill, self.padding_mode)


class RandomResizedCrop(Transform):
    """Cut out a window of random place, area and aspect ratio, and resize it.

    Parameters
    ----------
    size : int or sequence of int
        Height and width of the result, or one number for both.
    scale : (float, float)
        Range of the window's share of the image's area.
    ratio : (float, float)
        Range of the window's width divided by its height.
    interpolation : InterpolationMode
        The filter.
    antialias : bool
        See `Resize`.
    device : str
        ``"cpu"``.
    """

    engine = Resize.engine

    def __init__(
        self,
        size: Size,
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3 / 4, 4 / 3),
        interpolation: InterpolationMode = InterpolationMode.BILINEAR,
        antialias: bool | None = True,
        device: str = "cpu",
    ) -> None:
        super().__init__(device)
        what = "RandomResizedCrop"
        self.size = as_extents(size, what)
        self.scale = arguments.pair(scale, what, "scale", 0.0)
        self.ratio = arguments.pair(ratio, what, "ratio", 1e-9)
        self.interpolation = as_interpolation(interpolation, what)
        self.antialias = antialias is None or bool(antialias)

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        window = self._window(picture.height, picture.width, draws)
        cut = resampling.crop(picture, *window)
        return resampling.resize(cut, *self.size, self.interpolation, self.antialias)

    def _window(self, height: int, width: int, draws: Draws) -> tuple[int, int, int, int]:
        low, high = math.log(self.ratio[0]), math.log(self.ratio[1])
        for _ in range(10):
            area = height * width * draws.uniform(*self.scale)
            ratio = _exp(draws.uniform(low, high))
            across, down = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < across <= width and 0 < down <= height:
                top = draws.integer(0, height - down + 1)
                return top, draws.integer(0, width - across + 1), down, across
        ratio = min(max(width / height, self.ratio[0]), self.ratio[1])
        across, down = width, height
        if width / height < self.ratio[0]:
            down = round(width / self.ratio[0])
        elif width / height > self.ratio[1]:
            across = round(height * self.ratio[1])
        return (height - down) // 2, (width - across) // 2, down, across


def _exp(value: float) -> float:
    """Return the exponential in single precision, as PyTorch computes it."""
    import numpy as np

    return float(np.exp(np.float32(value)))


class _RandomFlip(Transform):
    def __init__(self, p: float = 0.5, device: str = "cpu") -> None:
        super().__init__(device)
        self.p = arguments.probability(p, type(self).__name__)


class RandomHorizontalFlip(_RandomFlip):
    """Mirror images left to right with a probability.

    Parameters
    ----------
    p : float
        The probability.
    device : str
        ``"cpu"``.
    """

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        return resampling.flip(picture, horizontal=draws.unit() < self.p)


class RandomVerticalFlip(_RandomFlip):
    """Mirror images top to bottom with a probability.

    Parameters
    ----------
    p : float
        The probability.
    device : str
        ``"cpu"``.
    """

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        return resampling.flip(picture, vertical=draws.unit() < self.p)


class Pad(Transform):
    """Add pixels on the sides.

    Parameters
    ----------
    padding : int or sequence of int
        Pixels on all sides, on left and right and on top and bottom, or left, top, right, bottom.
    fill : float, sequence of float or None
        Value of the padding: one, or one for each channel.
    padding_mode : str
        ``"constant"``, ``"edge"``, ``"reflect"`` or ``"symmetric"``.
    device : str
        ``"cpu"``.
    """

    def __init__(
        self,
        padding: Size,
        fill: float | Sequence[float] | None = 0,
        padding_mode: str = "constant",
        device: str = "cpu",
    ) -> None:
        super().__init__(device)
        self.padding = arguments.padding(padding, "Pad")
        self.fill = arguments.fill(fill, "Pad")
        self.padding_mode = arguments.padding_mode(padding_mode, "Pad")

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        return resampling.pad(picture, self.padding, self.fill, self.padding_mode)
