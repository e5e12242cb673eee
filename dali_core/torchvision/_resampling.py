"""Interpolations, and the operators that resize and cut pictures."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from dali_core import dynamic as dd
from dali_core import types
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.torchvision._frameworks import torch
from dali_core.torchvision._pictures import Picture, integers, numbers


class InterpolationMode(enum.Enum):
    """Interpolations, with the names of torchvision.

    Attributes
    ----------
    NEAREST
        The nearest pixel, as Pillow has it for its images; for tensors the pixel at or before the
        place.
    NEAREST_EXACT
        The nearest pixel.
    BILINEAR, BICUBIC, LANCZOS
        Filters of 2, 4 and 6 pixels.
    BOX, HAMMING
        Not implemented.
    """

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


_BY_NUMBER = {
    0: InterpolationMode.NEAREST,
    1: InterpolationMode.LANCZOS,
    2: InterpolationMode.BILINEAR,
    3: InterpolationMode.BICUBIC,
    4: InterpolationMode.BOX,
    5: InterpolationMode.HAMMING,
}
_TYPES = {
    InterpolationMode.NEAREST: types.INTERP_NN,
    InterpolationMode.NEAREST_EXACT: types.INTERP_NN,
    InterpolationMode.BILINEAR: types.INTERP_LINEAR,
    InterpolationMode.BICUBIC: types.INTERP_CUBIC,
    InterpolationMode.LANCZOS: types.INTERP_LANCZOS3,
}


def as_interpolation(value: Any, what: str) -> InterpolationMode:
    """Return an interpolation: ours, that of torchvision, its name, or the number of Pillow.

    Raises
    ------
    ArgumentValueError, NotImplementedError
        If there is none such, or it is not implemented.
    """
    found: InterpolationMode | None = None
    if isinstance(value, InterpolationMode):
        found = value
    elif isinstance(value, (enum.Enum, str)):
        name = value.value if isinstance(value, enum.Enum) else value
        found = next((mode for mode in InterpolationMode if mode.value == name), None)
    elif isinstance(value, int) and not isinstance(value, bool):
        found = _BY_NUMBER.get(int(value))
    if found is None:
        raise ArgumentValueError(
            f"torchvision.{what}: interpolation must be an InterpolationMode or Pillow's "
            f"number for it (got {value!r:.60}). Pass, for example, InterpolationMode.BILINEAR."
        )
    if found not in _TYPES:
        raise NotImplementedError(
            f"torchvision.{what}: interpolation {found.value!r} is not implemented. Use BILINEAR."
        )
    return found


def resize(
    picture: Picture,
    height: int,
    width: int,
    interpolation: InterpolationMode = InterpolationMode.BILINEAR,
    antialias: bool = True,
) -> Picture:
    """Resize a picture: one of Pillow with antialiasing always, as Pillow does."""
    if (height, width) == (picture.height, picture.width):
        return picture
    is_pillow = picture.kind == "pillow"
    if picture.mode in ("LA", "RGBA") and _TYPES[interpolation] != types.INTERP_NN:
        # Colours count as much as they are opaque.
        number = next(n for n, mode in _BY_NUMBER.items() if mode is interpolation)
        return picture.by_pillow(lambda image: image.resize((width, height), number))
    antialias = antialias or is_pillow
    if interpolation is InterpolationMode.BICUBIC and not antialias:
        return picture.by_torch(lambda image: _bicubic(image, (height, width)))
    region: dict[str, Any] = {}
    if interpolation is InterpolationMode.NEAREST and picture.kind == "tensor":
        # Its pixel begins where the centre of the output's pixel would be.
        extents = (picture.height, picture.width)
        shifts = [0.5 * e / o - 1e-3 * e / o for e, o in zip(extents, (height, width), strict=True)]
        region = {
            "roi_start": numbers([-shift for shift in shifts]),
            "roi_end": numbers([e - shift for e, shift in zip(extents, shifts, strict=True)]),
        }
    value = dd.resize(
        picture.value,
        size=numbers([height, width]),
        interp_type=_TYPES[interpolation],
        antialias=antialias,
        exclude_outside=True,
        **region,
    )
    return picture.with_value(value, size=(height, width))


def _bicubic(image: Any, size: tuple[int, int]) -> Any:
    """Interpolate without antialiasing, for which PyTorch has weights of its own."""
    framework = torch()
    found = framework.nn.functional.interpolate(
        image[None].float(), size=size, mode="bicubic", align_corners=False
    )[0]
    if image.is_floating_point():
        return found.to(image.dtype)
    return found.round_().clamp_(0, framework.iinfo(image.dtype).max).to(image.dtype)


_POLICIES = {
    "constant": "pad",
    "edge": "edge",
    "reflect": "reflect_101",
    "symmetric": "reflect_1001",
}
PADDING_MODES = tuple(_POLICIES)
"""Names of the ways to pad."""


def crop(
    picture: Picture,
    top: int,
    left: int,
    height: int,
    width: int,
    fill: float | Sequence[float] | None = None,
    mode: str = "constant",
) -> Picture:
    """Cut a window out of a picture, which may reach beyond it."""
    if (top, left, height, width) == (0, 0, picture.height, picture.width):
        return picture
    if height < 1 or width < 1:
        raise ArgumentValueError(
            f"torchvision.crop: windows must have pixels (got {height} x {width}). Pass a height "
            "and a width of at least 1."
        )
    outside: dict[str, Any] = {}
    is_inside = top >= 0 and left >= 0
    if not is_inside or top + height > picture.height or left + width > picture.width:
        outside = {"out_of_bounds_policy": _POLICIES[mode], "fill_values": filling(picture, fill)}
    value = dd.slice(
        picture.value,
        start=integers(top, left),
        shape=integers(height, width),
        axis_names="HW",
        **outside,
    )
    return picture.with_value(value, size=(height, width))


def filling(picture: Picture, fill: float | Sequence[float] | None) -> list[float]:
    """Return the value of each channel outside of a picture."""
    given: Any = fill if isinstance(fill, (list, tuple)) else [fill or 0]
    values = [float(value) for value in given]
    if len(values) == 1:
        values *= picture.channels
    if len(values) != picture.channels:
        raise ArgumentValueError(
            f"torchvision: fill must have one value, or one for each of the {picture.channels} "
            f"channels (got {len(values)})."
        )
    return values


def pad(
    picture: Picture,
    padding: Sequence[int],
    fill: float | Sequence[float] | None = 0,
    mode: str = "constant",
) -> Picture:
    """Add pixels on the left, at the top, on the right and at the bottom."""
    left, top, right, bottom = padding
    return crop(
        picture,
        -top,
        -left,
        picture.height + top + bottom,
        picture.width + left + right,
        fill,
        mode,
    )


def center_crop(picture: Picture, height: int, width: int) -> Picture:
    """Cut out the middle; zeros are outside."""
    top = _start(picture.height, height)
    left = _start(picture.width, width)
    return crop(picture, top, left, height, width)


def _start(extent: int, wanted: int) -> int:
    if wanted > extent:
        return -((wanted - extent) // 2)
    return round((extent - wanted) / 2)


def flip(picture: Picture, horizontal: bool = False, vertical: bool = False) -> Picture:
    """Mirror a picture, or not: both have the same plan."""
    value = dd.flip(picture.value, horizontal=_FLAGS[horizontal](), vertical=_FLAGS[vertical]())
    return picture.with_value(value)


_FLAGS = {False: lambda: integers(0)[0], True: lambda: integers(1)[0]}


def as_size(size: Any, what: str, name: str = "size") -> tuple[int, int]:
    """Return height and width of one number or a sequence of one or two.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If these are no positive integers.
    """
    found = as_integers(size, what, name)
    if len(found) not in (1, 2):
        raise ArgumentValueError(
            f"torchvision.{what}: {name} must be one number, or height and width (got "
            f"{size!r:.60})."
        )
    if min(found) < 1:
        raise ArgumentValueError(
            f"torchvision.{what}: {name} must be positive (got {size!r:.60}). Pass pixels."
        )
    return found[0], found[-1]


def as_integers(values: Any, what: str, name: str) -> list[int]:
    """Return the integers of one number or a sequence.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If one is no integer: a ValueError as well as a TypeError.
    """
    found = list(values) if isinstance(values, (list, tuple)) else [values]
    for value in found:
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise NoIntegerError(
                f"torchvision.{what}: {name} must be made of integers (got {values!r:.60}). "
                "Convert it."
            )
    return [int(value) for value in found]


class NoIntegerError(ArgumentTypeError, ArgumentValueError):
    """A number of pixels is no integer."""
