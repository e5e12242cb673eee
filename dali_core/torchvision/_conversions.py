"""Conversions between images of Pillow, tensors and types of numbers; normalisation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dali_core import dynamic as dd
from dali_core.errors import ArgumentFormError, ArgumentTypeError, ArgumentValueError
from dali_core.torchvision import _arguments as arguments
from dali_core.torchvision import _colors as colors
from dali_core.torchvision._draws import Draws
from dali_core.torchvision._frameworks import torch
from dali_core.torchvision._pictures import Picture, as_dtype
from dali_core.torchvision._transform import Transform


class PILToTensor(Transform):
    """Make tensors CHW, without changing numbers.

    Parameters
    ----------
    device : str
        ``"cpu"``.
    """

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        return picture.with_kind("tensor")


class ToImage(PILToTensor):
    """Make tensors CHW, without changing numbers.

    Parameters
    ----------
    device : str
        ``"cpu"``.
    """


class ToPureTensor(PILToTensor):
    """Make tensors CHW, without changing numbers.

    Parameters
    ----------
    device : str
        ``"cpu"``.
    """


class ToTensor(Transform):
    """Make tensors CHW: those of images of 8 bits are of float32, from 0 to 1.

    Parameters
    ----------
    device : str
        ``"cpu"``.
    """

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        made = picture.with_kind("tensor")
        return (
            made if picture.kind == "tensor" else to_dtype(made, "float32", made.dtype == "uint8")
        )


class ToPILImage(Transform):
    """Make images of Pillow: numbers of floating point are taken as from 0 to 1.

    Parameters
    ----------
    mode : str, optional
        The mode, by default that of the number of channels.
    device : str
        ``"cpu"``.
    """

    def __init__(self, mode: str | None = None, device: str = "cpu") -> None:
        super().__init__(device)
        if mode is not None and mode not in _CHANNELS:
            raise ArgumentValueError(
                f"torchvision.ToPILImage: mode must be one of {', '.join(_CHANNELS)} (got "
                f"{mode!r:.60})."
            )
        self.mode = mode

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        return to_pillow(picture, self.mode)


_CHANNELS = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4, "CMYK": 4}


def to_pillow(picture: Picture, mode: str | None) -> Picture:
    """Make a picture one of Pillow.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If its type or its number of channels is none of Pillow's.
    """
    if picture.is_float:
        scaled = dd.math.clamp(picture.value * 255.0, 0.0, 255.0)
        value = dd.cast(dd.math.floor(scaled), dtype=dd.uint8)
        picture = picture.with_value(value, dtype="uint8")
    if picture.dtype != "uint8":
        raise ArgumentTypeError(
            f"torchvision.ToPILImage: numbers must be of uint8 or floating point (got "
            f"{picture.dtype}). Convert them."
        )
    if picture.channels > 4 or (mode and _CHANNELS[mode] != picture.channels):
        raise ArgumentValueError(
            f"torchvision.ToPILImage: the number of channels must be that of the mode (got "
            f"{picture.channels} for {mode or 'any mode'})."
        )
    made = picture.with_kind("pillow")
    if mode:
        made = made.with_value(made.hwc, "HWC") if made is picture else made
        made.mode = mode
    return made


def to_dtype(picture: Picture, dtype: str, scale: bool) -> Picture:
    """Convert numbers; with `scale`, the whole range of one type to that of the other."""
    if dtype == picture.dtype:
        return picture
    if scale and not picture.is_float and dtype.startswith("float"):
        made = picture.scaled(1 / picture.bound)
        return made if dtype == "float32" else to_dtype(made, dtype, False)
    if picture.is_float == dtype.startswith("float") and (picture.is_float or not scale):
        value = dd.cast(picture.value, dtype=getattr(dd, dtype))
        return picture.with_value(value, dtype=dtype)
    return picture.by_torch(lambda image: _converted(image, getattr(torch(), dtype), scale))


def _converted(image: Any, dtype: Any, scale: bool) -> Any:
    """Convert numbers as PyTorch does; to integers without a fraction."""
    if not scale:
        return image.to(dtype)
    framework = torch()
    largest = framework.iinfo(dtype).max
    if image.is_floating_point():
        wide = image.double() if largest > 2**24 else image
        return (wide * (largest + 1.0 - 1e-3)).to(dtype)
    bits = largest.bit_length() - framework.iinfo(image.dtype).max.bit_length()
    wide = image.to(framework.int64)
    return (wide >> -bits if bits < 0 else wide << bits).to(dtype)


class ToDtype(Transform):
    """Convert the numbers of tensors and arrays; images of Pillow stay.

    Parameters
    ----------
    dtype : torch.dtype
        Their type.
    scale : bool
        Whether the range of one type becomes that of the other: 0 to 255 of uint8 is 0 to 1.
    device : str
        ``"cpu"``.
    """

    engine = "native (integers from floating point by PyTorch)"

    def __init__(self, dtype: Any, scale: bool = False, device: str = "cpu") -> None:
        super().__init__(device)
        self.dtype = dtype
        self.scale = bool(scale)
        self._name = as_dtype(dtype, type(self).__name__)

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        if picture.kind == "pillow":
            return picture
        return to_dtype(picture, self._name, self.scale)


class ConvertImageDtype(ToDtype):
    """Convert the numbers of tensors and arrays, with their range.

    Parameters
    ----------
    dtype : torch.dtype, optional
        Their type, by default float32.
    device : str
        ``"cpu"``.
    """

    def __init__(self, dtype: Any = None, device: str = "cpu") -> None:
        super().__init__(torch().float32 if dtype is None else dtype, True, device)


class Normalize(Transform):
    """Subtract a mean and divide by a standard deviation; the result is of float32.

    Parameters
    ----------
    mean, std : sequence of float
        One number, or one for each channel.
    inplace : bool
        Must be False.
    device : str
        ``"cpu"``.
    """

    def __init__(
        self,
        mean: Sequence[float],
        std: Sequence[float],
        inplace: bool = False,
        device: str = "cpu",
    ) -> None:
        super().__init__(device)
        self.mean, self.std = checked_moments(mean, std, inplace, "Normalize")

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        return normalized(picture, self.mean, self.std)


def checked_moments(
    mean: Any, std: Any, inplace: Any, what: str
) -> tuple[list[float], list[float]]:
    """Check mean and deviation.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError, NotImplementedError
        If they are no sequences of numbers of the same length, or one deviation is 0.
    """
    if inplace:
        raise NotImplementedError(f"torchvision.{what}: images are never changed in place.")
    found = []
    for name, value in (("mean", mean), ("std", std)):
        value = value.tolist() if hasattr(value, "tolist") else value  # noqa: PLW2901
        if not isinstance(value, (list, tuple)):
            raise ArgumentTypeError(
                f"torchvision.{what}: {name} must be a sequence (got {value!r:.60}). Put it in "
                "brackets."
            )
        found.append(arguments.numbers(value, what, name))
        if not value:
            raise ArgumentValueError(f"torchvision.{what}: {name} must have a number (got none).")
    if 0 in found[1] or min(found[1]) < 0:
        raise ArgumentValueError(f"torchvision.{what}: std must be positive (got {std!r:.60}).")
    if len({len(found[0]), len(found[1])} - {1}) > 1:
        raise ArgumentValueError(
            f"torchvision.{what}: mean and std must have the same length (got {len(found[0])} and "
            f"{len(found[1])})."
        )
    return found[0], found[1]


def normalized(picture: Picture, mean: Sequence[float], std: Sequence[float]) -> Picture:
    """Normalise a picture.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If it is one of Pillow, or has another number of channels.
    """
    if picture.kind == "pillow":
        raise ArgumentTypeError(
            "torchvision.Normalize: the image must be a tensor or an array (got one of Pillow). "
            "Put ToTensor before it."
        )
    for values in (mean, std):
        if len(values) not in (1, picture.channels):
            raise ArgumentFormError(
                f"torchvision.Normalize: mean and std must have one number, or one for each of the "
                f"{picture.channels} channels (got {len(values)})."
            )
    if picture.dtype == "float64":
        shape = (-1, 1, 1)

        def exact(image: Any) -> Any:
            tensors = (torch().tensor(v, dtype=image.dtype).view(shape) for v in (mean, std))
            return (image - next(tensors)) / next(tensors)

        return picture.by_torch(exact)
    made = colors.normalize(picture, mean, std)
    return to_dtype(made, "float16", False) if picture.dtype == "float16" else made


class Identity(Transform):
    """Change nothing.

    Parameters
    ----------
    device : str
        ``"cpu"``.
    """

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        return picture
