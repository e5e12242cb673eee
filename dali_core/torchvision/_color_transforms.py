"""Transforms of colours, filters and erased regions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from dali_core.errors import ArgumentFormError, ArgumentValueError
from dali_core.torchvision import _arguments as arguments
from dali_core.torchvision import _colors as colors
from dali_core.torchvision._draws import Draws, Source
from dali_core.torchvision._pictures import Picture
from dali_core.torchvision._resampling import as_integers
from dali_core.torchvision._transform import Transform

_ALPHA = "native (opacity by Pillow)"


def checked_channels(value: Any, what: str) -> int:
    """Check a number of channels of grey images.

    Raises
    ------
    ArgumentValueError
        If it is not 1 or 3.
    """
    if value not in (1, 3) or isinstance(value, bool):
        raise ArgumentValueError(
            f"torchvision.{what}: num_output_channels must be 1 or 3 (got {value!r:.60})."
        )
    return int(value)


class Grayscale(Transform):
    """Make images grey.

    Parameters
    ----------
    num_output_channels : int
        1, or 3 for three equal channels.
    device : str
        ``"cpu"``.
    """

    engine = _ALPHA

    def __init__(self, num_output_channels: int = 1, device: str = "cpu") -> None:
        super().__init__(device)
        self.num_output_channels = checked_channels(num_output_channels, "Grayscale")

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        return colors.grayscale(picture, self.num_output_channels)


class RandomGrayscale(Transform):
    """Make images grey with a probability; they keep their number of channels.

    Parameters
    ----------
    p : float
        The probability.
    device : str
        ``"cpu"``.
    """

    engine = _ALPHA

    def __init__(self, p: float = 0.1, device: str = "cpu") -> None:
        super().__init__(device)
        self.p = arguments.probability(p, "RandomGrayscale")

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        if draws.unit() >= self.p or picture.channels == 1:
            return picture
        return colors.grayscale(picture, 3)


class ColorJitter(Transform):
    """Change brightness, contrast, saturation and hue by random amounts, in a random order.

    Parameters
    ----------
    brightness, contrast, saturation : float or (float, float)
        Range of the factor; x stands for the range from ``max(0, 1 - x)`` to ``1 + x``.
    hue : float or (float, float)
        Range of the turn in shares of the circle, within -0.5 and 0.5; x stands for the range from
        -x to x.
    device : str
        ``"cpu"``.
    """

    engine = "native (hue by PyTorch, opacity by Pillow)"

    def __init__(
        self,
        brightness: float | Sequence[float] | None = 0,
        contrast: float | Sequence[float] | None = 0,
        saturation: float | Sequence[float] | None = 0,
        hue: float | Sequence[float] | None = 0,
        device: str = "cpu",
    ) -> None:
        super().__init__(device)
        self.brightness = _range(brightness, "brightness")
        self.contrast = _range(contrast, "contrast")
        self.saturation = _range(saturation, "saturation")
        self.hue = _range(hue, "hue", 0.0, -0.5, 0.5)

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        order = draws.permutation(4)
        ranges = (self.brightness, self.contrast, self.saturation, self.hue)
        drawn = [None if limits is None else draws.uniform(*limits) for limits in ranges]
        picture = picture.settled()
        for index in order:
            value = drawn[index]
            if value is not None:
                picture = _JITTER[index](picture, value).settled()
        return picture


_JITTER = (colors.brightness, colors.contrast, colors.saturation, colors.hue)


def _range(
    value: Any, name: str, center: float = 1.0, low: float = 0.0, high: float = math.inf
) -> tuple[float, float] | None:
    """Return a range around what changes nothing, or None if that is all."""
    what = "ColorJitter"
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        found = arguments.pair(value, what, name, low, high)
    else:
        if not arguments.is_number(value):
            raise ArgumentFormError(
                f"torchvision.{what}: {name} must be a number or a pair (got {value!r:.60})."
            )
        if value < 0 or center + value > high:
            raise ArgumentValueError(
                f"torchvision.{what}: {name} must be from 0 to {high:g} (got {value})."
            )
        found = (max(center - value, low), center + value)
    return None if found == (center, center) else found


class GaussianBlur(Transform):
    """Blur with a Gaussian of a random deviation.

    Parameters
    ----------
    kernel_size : int or (int, int)
        Extent of the kernel in pixels, odd; or that along x and along y.
    sigma : float or (float, float)
        Range of the standard deviation in pixels.
    seed : int
        Seed of its own, unless it is negative.
    device : str
        ``"cpu"``.
    """

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        sigma: float | Sequence[float] = (0.1, 2.0),
        seed: int = -1,
        device: str = "cpu",
    ) -> None:
        super().__init__(device)
        self.kernel_size = checked_kernel(kernel_size, "GaussianBlur")
        found = arguments.numbers(sigma, "GaussianBlur", "sigma")
        found = found * 2 if len(found) == 1 else found
        self.sigma = arguments.pair(found, "GaussianBlur", "sigma", 1e-9)
        self._source = Source(seed)

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        draws = draws if self._source.seed is None else self._source.next()
        sigma = draws.uniform(*self.sigma)
        return colors.blur(picture, self.kernel_size, (sigma, sigma))


def checked_kernel(kernel_size: Any, what: str) -> tuple[int, int]:
    """Check the extents of a kernel.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If they are no odd, positive integers.
    """
    found = as_integers(kernel_size, what, "kernel_size")
    if len(found) not in (1, 2) or any(extent < 1 or extent % 2 == 0 for extent in found):
        raise ArgumentValueError(
            f"torchvision.{what}: kernel_size must be odd and positive, one number or two (got "
            f"{kernel_size!r:.60})."
        )
    return found[0], found[-1]


class RandomErasing(Transform):
    """Erase a random window with a probability.

    Parameters
    ----------
    p : float
        The probability.
    scale : (float, float)
        Range of the window's share of the area.
    ratio : (float, float)
        Range of the window's height divided by its width.
    value : float, sequence of float, or "random"
        What is written: one number, one for each channel, or random numbers of the standard normal
        distribution.
    inplace : bool
        Must be False.
    device : str
        ``"cpu"``.
    """

    engine = "native (random values by PyTorch)"

    def __init__(
        self,
        p: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: float | Sequence[float] | str | None = 0.0,
        inplace: bool = False,
        device: str = "cpu",
    ) -> None:
        super().__init__(device)
        what = "RandomErasing"
        self.p = arguments.probability(p, what)
        self.scale = arguments.pair(scale, what, "scale", 0.0, 1.0)
        self.ratio = arguments.pair(ratio, what, "ratio", 1e-9)
        if isinstance(value, str) and value != "random":
            raise ArgumentValueError(
                f"torchvision.{what}: value must be numbers or 'random' (got {value!r:.60})."
            )
        is_random = value is None or value == "random"
        self.value = None if is_random else arguments.numbers(value, what, "value")
        if inplace:
            raise NotImplementedError(f"torchvision.{what}: images are never changed in place.")

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        if draws.unit() >= self.p:
            return picture
        if self.value is not None and len(self.value) not in (1, picture.channels):
            raise ArgumentValueError(
                "torchvision.RandomErasing: value must be one number, or one for each of the "
                f"{picture.channels} channels (got {len(self.value)})."
            )
        height, width = picture.height, picture.width
        low, high = (math.log(limit) for limit in self.ratio)
        for _ in range(10):
            area = height * width * draws.uniform(*self.scale)
            ratio = math.exp(draws.uniform(low, high))
            down, across = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if not (down < height and across < width):
                continue
            values: Any = self.value
            if values is None:
                values = draws.normal([picture.channels, down, across])
            top = draws.integer(0, height - down + 1)
            left = draws.integer(0, width - across + 1)
            return colors.erase(picture, top, left, down, across, values)
        return picture


class _RandomChange(Transform):
    """A change of colours that is made with a probability."""

    engine = _ALPHA

    def __init__(self, p: float = 0.5, device: str = "cpu") -> None:
        super().__init__(device)
        self.p = arguments.probability(p, type(self).__name__)

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        if draws.unit() >= self.p:
            return picture
        return self._change()(picture).settled()

    def _change(self) -> Callable[[Picture], Picture]:
        raise NotImplementedError


class RandomInvert(_RandomChange):
    """Invert colours with a probability.

    Parameters
    ----------
    p : float
        The probability.
    device : str
        ``"cpu"``.
    """

    def _change(self) -> Callable[[Picture], Picture]:
        return colors.invert


class RandomEqualize(_RandomChange):
    """Equalise the histograms of all channels with a probability.

    Parameters
    ----------
    p : float
        The probability.
    device : str
        ``"cpu"``.
    """

    engine = "NumPy (images of Pillow by Pillow)"

    def _change(self) -> Callable[[Picture], Picture]:
        return colors.equalize


class RandomAutocontrast(_RandomChange):
    """Stretch all channels to the whole range with a probability.

    Parameters
    ----------
    p : float
        The probability.
    device : str
        ``"cpu"``.
    """

    def _change(self) -> Callable[[Picture], Picture]:
        return colors.autocontrast


class RandomPosterize(_RandomChange):
    """Keep the upper bits of all numbers with a probability.

    Parameters
    ----------
    bits : int
        How many, from 0 to 8.
    p : float
        The probability.
    device : str
        ``"cpu"``.
    """

    def __init__(self, bits: int, p: float = 0.5, device: str = "cpu") -> None:
        super().__init__(p, device)
        (self.bits,) = as_integers(bits, "RandomPosterize", "bits")
        if not 0 <= self.bits <= 8:
            raise ArgumentValueError(
                f"torchvision.RandomPosterize: bits must be from 0 to 8 (got {bits})."
            )

    def _change(self) -> Callable[[Picture], Picture]:
        return lambda picture: colors.posterize(picture, self.bits)


class RandomSolarize(_RandomChange):
    """Invert numbers that are not below a threshold, with a probability.

    Parameters
    ----------
    threshold : float
        The threshold.
    p : float
        The probability.
    device : str
        ``"cpu"``.
    """

    def __init__(self, threshold: float, p: float = 0.5, device: str = "cpu") -> None:
        super().__init__(p, device)
        (self.threshold,) = arguments.numbers(threshold, "RandomSolarize", "threshold")

    def _change(self) -> Callable[[Picture], Picture]:
        return lambda picture: colors.solarize(picture, self.threshold)


class RandomAdjustSharpness(_RandomChange):
    """Sharpen or blur with a probability.

    Parameters
    ----------
    sharpness_factor : float
        0 blurs, 1 changes nothing, more sharpens.
    p : float
        The probability.
    device : str
        ``"cpu"``.
    """

    def __init__(self, sharpness_factor: float, p: float = 0.5, device: str = "cpu") -> None:
        super().__init__(p, device)
        (factor,) = arguments.numbers(sharpness_factor, "RandomAdjustSharpness", "sharpness_factor")
        if factor < 0:
            raise ArgumentValueError(
                "torchvision.RandomAdjustSharpness: sharpness_factor must not be negative (got "
                f"{factor})."
            )
        self.sharpness_factor = factor

    def _change(self) -> Callable[[Picture], Picture]:
        return lambda picture: colors.sharpness(picture, self.sharpness_factor)
