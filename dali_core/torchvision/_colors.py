"""The operators on colours, with the results of torchvision.

Where integers drop their fraction there, a half is subtracted here before numbers are rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dali_core import dynamic as dd
from dali_core import types
from dali_core.dynamic._tensors import Tensor
from dali_core.errors import ArgumentTypeError
from dali_core.torchvision._frameworks import pillow, torch
from dali_core.torchvision._pictures import Picture, number, numbers

# ITU-R BT.601 as Pillow and torchvision have it.
_PILLOW_GREY = np.array([19595, 38470, 7471]) / 65536
_TENSOR_GREY = np.array([0.2989, 0.587, 0.114])
_ONES = np.ones((3, 1))


def by_pillow_if_alpha(picture: Picture, function: Callable[[Any], Any]) -> Picture | None:
    """Have Pillow compute an image with an opacity, or in the colours of prints."""
    return picture.by_pillow(function) if picture.mode in ("LA", "RGBA", "CMYK") else None


def check_colors(picture: Picture, what: str) -> None:
    """Check that a picture is grey or RGB.

    Raises
    ------
    ArgumentTypeError
        If it has another number of channels.
    """
    if picture.channels not in (1, 3):
        raise ArgumentTypeError(
            f"torchvision.{what}: the image must have 1 or 3 channels (got {picture.channels}). "
            "Select channels."
        )


def _weights(picture: Picture) -> Any:
    return _PILLOW_GREY if picture.kind == "pillow" else _TENSOR_GREY


def _mixed(picture: Picture, matrix: Any, shift: float, channels: int = 0) -> Picture:
    """Mix channels; `shift` is added for integers only, before they are rounded."""
    if picture.is_float:
        shift = 0.0
    value = dd.coord_transform(
        picture.hwc,
        M=numbers(matrix),
        T=numbers([shift] * len(matrix)),
        dtype=picture.type_id,
    )
    value = dd.reinterpret(value, layout="HWC")
    return picture.with_value(_clamped(picture, value), "HWC", channels=channels)


def _clamped(picture: Picture, value: Tensor) -> Tensor:
    """Keep floating point in [0, 1]; integers saturate."""
    if not picture.is_float:
        return value
    found: Tensor = dd.math.clamp(value, 0.0, 1.0)
    return found


def grayscale(picture: Picture, channels: int = 1) -> Picture:
    """Return the brightness of a picture, in one channel or in three equal ones."""
    if picture.mode in ("LA", "RGBA", "CMYK"):
        picture = picture.by_pillow(lambda image: image.convert("L"))
    check_colors(picture, "Grayscale")
    if picture.channels == 1:
        if channels == 1:
            return picture
        return _mixed(picture, np.ones((channels, 1)), 0.0, channels)
    # Pillow rounds to the nearest, half up; torchvision drops the fraction of tensors.
    shift = 0.0 if picture.kind == "pillow" else -0.5
    rows = np.broadcast_to(_weights(picture), (channels, 3))
    return _mixed(picture, rows, shift, channels)


def brightness(picture: Picture, factor: float) -> Picture:
    """Multiply all numbers."""
    made = by_pillow_if_alpha(picture, _enhanced("Brightness", factor))
    if made is not None:
        return made
    if picture.is_float:
        return picture.with_value(_clamped(picture, picture.value * number(factor)))
    return _adjusted(picture, factor, None)


def _adjusted(picture: Picture, brightness: float, center: Tensor | None) -> Picture:
    shift = -0.5 / picture.bound
    if center is None:
        arguments: dict[str, Any] = {"brightness": number(brightness)}
    else:
        arguments = {"contrast": number(brightness), "contrast_center": center}
    value = dd.brightness_contrast(picture.hwc, brightness_shift=shift, **arguments)
    return picture.with_value(value, "HWC")


def contrast(picture: Picture, factor: float) -> Picture:
    """Multiply the differences to the mean of the grey image."""
    made = by_pillow_if_alpha(picture, _enhanced("Contrast", factor))
    if made is not None:
        return made
    check_colors(picture, "ColorJitter")
    mean = dd.reductions.mean(grayscale(picture).hwc, dtype=types.FLOAT)
    if picture.kind == "pillow":
        mean = dd.math.floor(mean + 0.5)
    if picture.is_float:
        scale = number(factor)
        value = (picture.value - mean) * scale + mean
        return picture.with_value(_clamped(picture, value))
    return _adjusted(picture, factor, mean)


def saturation(picture: Picture, factor: float) -> Picture:
    """Multiply the differences to the pixel's grey."""
    made = by_pillow_if_alpha(picture, _enhanced("Color", factor))
    if made is not None:
        return made
    check_colors(picture, "ColorJitter")
    if picture.channels == 1:
        return picture
    matrix = factor * np.eye(3) + (1 - factor) * _ONES * _weights(picture)
    # Of tensors, the fraction of the grey is dropped as well: half of it on average.
    shift = -0.5 if picture.kind == "pillow" else -0.5 - 0.5 * (1 - factor)
    return _mixed(picture, matrix, shift)


def hue(picture: Picture, shift: float) -> Picture:
    """Turn the hue, in the colour space HSV, by a share of the whole circle."""
    if picture.mode in ("L", "LA"):
        return picture
    made = by_pillow_if_alpha(picture, lambda image: _hue_by_pillow(image, shift))
    if made is not None:
        return made
    check_colors(picture, "ColorJitter")
    if picture.channels == 1:
        return picture
    is_pillow = picture.kind == "pillow"
    return picture.by_torch(lambda image: _turned(image, shift, is_pillow))


def _hue_by_pillow(image: Any, shift: float) -> Any:
    module = pillow()
    turned, *others = image.convert("HSV").split()
    levels = np.asarray(turned) + np.int32(shift * 255).astype(np.uint8)
    made = module.merge("HSV", (module.fromarray(levels), *others))
    return made.convert(image.mode)


def _turned(image: Any, shift: float, in_levels: bool) -> Any:
    """Turn the hue of a tensor CHW.

    Parameters
    ----------
    image : torch.Tensor
        The image.
    shift : float
        By which share of the circle.
    in_levels : bool
        Whether hue and saturation are bytes, as Pillow has them.
    """
    framework = torch()
    scale = 1.0 if image.is_floating_point() else float(framework.iinfo(image.dtype).max)
    red, green, blue = image.float().contiguous()
    value = framework.maximum(framework.maximum(red, green), blue)
    chroma = value - framework.minimum(framework.minimum(red, green), blue)
    sector = framework.where(
        red == value,
        green - blue,
        framework.where(green == value, blue - red + 2 * chroma, red - green + 4 * chroma),
    )
    # A grey pixel has none, and its sector is 0.
    turned = sector.div_(chroma.clamp(min=1e-12 * scale))
    if in_levels:
        # Rounded to single precision once, as there: levels are often whole numbers before.
        turned = turned.double().div_(6)
        levels = turned.add_(turned < 0).float().double().mul_(255).to(framework.uint8)
        turned = (levels + int(np.int32(shift * 255).astype(np.uint8))).float().mul_(6 / 255)
        chroma = (chroma * 255).div_(value.clamp(min=1)).floor_().mul_(value).mul_(1 / 255)
    else:
        turned.mul_(1 / 6).add_(1 + shift)
        turned = turned.sub_(turned.floor()).mul_(6)
    # Each colour falls from the value by a share of the chroma, piecewise linear in the hue.
    shares = (
        (turned - 3).abs_().neg_().add_(2),
        (turned - 2).abs_().sub_(1),
        (turned - 4).abs_().sub_(1),
    )
    made = framework.empty_like(image, memory_format=framework.contiguous_format)
    for place, share in zip(made, shares, strict=True):
        color = framework.addcmul(value, chroma, share.clamp_(0, 1), value=-1)
        if in_levels:
            color.round_()
        elif scale != 1.0:
            color.mul_((scale + 1 - 1e-3) / scale).clamp_(0, scale)
        place.copy_(color)
    return made


def _enhanced(name: str, factor: float) -> Callable[[Any], Any]:
    def enhance(image: Any) -> Any:
        from PIL import ImageEnhance

        return getattr(ImageEnhance, name)(image).enhance(factor)

    return enhance


def sharpness(picture: Picture, factor: float) -> Picture:
    """Multiply the differences to the smoothed image; the outermost pixels stay."""
    made = by_pillow_if_alpha(picture, _enhanced("Sharpness", factor))
    if made is not None:
        return made
    if picture.height < 3 or picture.width < 3:
        return picture
    kernel = np.full((3, 3), (1 - factor) / 13)
    kernel[1, 1] = factor + (1 - factor) * 5 / 13
    source = picture.hwc
    found = dd.filter(source, numbers(kernel))

    def inside(array: Any) -> Any:
        made = np.array(array)
        made[1:-1, 1:-1] = np.asarray(_clamped(picture, found))[1:-1, 1:-1]
        return made

    return picture.by_array(inside)


def invert(picture: Picture) -> Picture:
    """Subtract all numbers from the largest one."""
    made = by_pillow_if_alpha(picture, _by_ops("invert"))
    if made is not None:
        return made
    if picture.is_float:
        return picture.with_value(1.0 - picture.value)
    return picture.with_value(picture.value ^ np.dtype(picture.dtype).type(picture.bound))


def solarize(picture: Picture, threshold: float) -> Picture:
    """Invert the numbers that are not below a threshold."""
    made = by_pillow_if_alpha(picture, _by_ops("solarize", threshold))
    if made is not None:
        return made
    value = picture.value
    is_above = dd.cast(value >= number(threshold), dtype=picture.type_id)
    if picture.is_float:
        return picture.with_value(value + is_above * (1.0 - 2.0 * value))
    flipped = is_above * np.dtype(picture.dtype).type(picture.bound)
    return picture.with_value(value ^ flipped)


def posterize(picture: Picture, bits: int) -> Picture:
    """Keep the upper bits of each number."""
    made = by_pillow_if_alpha(picture, _by_ops("posterize", bits))
    if made is not None:
        return made
    if picture.dtype != "uint8":
        raise ArgumentTypeError(
            f"torchvision.RandomPosterize: images must be of uint8 (got {picture.dtype}). Convert "
            "them."
        )
    mask = dd.as_tensor(np.uint8(0xFF << (8 - min(max(bits, 0), 8)) & 0xFF))
    return picture.with_value(picture.value & mask)


def autocontrast(picture: Picture) -> Picture:
    """Stretch each channel to the whole range; channels of one level stay."""
    made = by_pillow_if_alpha(picture, _by_ops("autocontrast"))
    if made is not None:
        return made
    value = picture.hwc
    low = np.asarray(dd.reductions.min(value, axes=[0, 1])).astype(np.float64)
    high = np.asarray(dd.reductions.max(value, axes=[0, 1])).astype(np.float64)
    span = np.where(high > low, high - low, picture.bound)
    low = np.where(high > low, low, 0.0)
    found = dd.crop_mirror_normalize(
        value,
        mean=numbers(low),
        std=numbers(span / picture.bound),
        shift=0.0 if picture.is_float else -0.5,
        dtype=picture.type_id,
        output_layout="HWC",
    )
    return picture.with_value(_clamped(picture, found), "HWC")


def equalize(picture: Picture) -> Picture:
    """Spread the levels of each channel evenly over the whole range, by Pillow's formula."""
    if picture.kind == "pillow":
        return picture.by_pillow(_by_ops("equalize"))
    if picture.is_float:
        bytes_of_it = picture.with_value(
            dd.cast(dd.math.floor(picture.value * 255.999), dtype=types.UINT8), dtype="uint8"
        )
        found = equalize(bytes_of_it).value * np.float32(1 / 255)
        return picture.with_value(found, bytes_of_it._layout)
    return picture.by_array(_equalized)


def _equalized(array: Any) -> Any:
    made = np.empty_like(array)
    for channel in range(array.shape[-1]):
        levels = array[..., channel]
        counts = np.bincount(levels.ravel(), minlength=256)
        step = int(counts.sum() - counts[np.flatnonzero(counts)[-1]]) // 255
        if step == 0:
            made[..., channel] = levels
            continue
        before = np.concatenate([[0], np.cumsum(counts)[:-1]])
        table = np.minimum((before + step // 2) // step, 255).astype(np.uint8)
        np.take(table, levels, out=made[..., channel])
    return made


def _by_ops(name: str, *arguments: Any) -> Callable[[Any], Any]:
    def compute(image: Any) -> Any:
        from PIL import ImageOps

        return getattr(ImageOps, name)(image, *arguments)

    return compute


def blur(picture: Picture, kernel_size: Sequence[int], sigma: Sequence[float]) -> Picture:
    """Blur with a Gaussian; kernel and deviation are given along x and along y."""
    value = dd.gaussian_blur(
        picture.value,
        window_size=[kernel_size[1], kernel_size[0]],
        sigma=numbers([sigma[1], sigma[0]]),
    )
    return picture.with_value(value)


def erase(picture: Picture, top: int, left: int, height: int, width: int, values: Any) -> Picture:
    """Fill a window with one value, one for each channel, or a tensor of its size."""
    if not isinstance(values, (list, tuple)):
        return picture.by_torch(lambda image: _filled(image, top, left, height, width, values))
    fill = list(values) * (picture.channels if len(values) == 1 else 1)
    value = dd.erase(
        picture.value,
        anchor=numbers([top, left]),
        shape=numbers([height, width]),
        axis_names="HW",
        fill_value=numbers(fill),
    )
    return picture.with_value(value)


def _filled(image: Any, top: int, left: int, height: int, width: int, values: Any) -> Any:
    made = image.clone()
    made[:, top : top + height, left : left + width] = values
    return made


def normalize(picture: Picture, mean: Sequence[float], std: Sequence[float]) -> Picture:
    """Subtract a mean and divide by a deviation, for each channel; the result is of float32."""
    value, scale = picture.unscaled()
    found = dd.crop_mirror_normalize(
        value,
        mean=[m / scale for m in mean],
        std=[s / scale for s in std],
        output_layout="CHW",
    )
    return picture.with_value(found, "CHW", dtype="float32")
