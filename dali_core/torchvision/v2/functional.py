"""Functions on images: each takes an image of Pillow, or a tensor ``CHW`` or ``NCHW``.

They return the same kind of image. Argument `device` is ``"cpu"``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dali_core.dynamic._devices import check_host
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.torchvision import _arguments as arguments
from dali_core.torchvision import _colors as colors
from dali_core.torchvision import _conversions as conversions
from dali_core.torchvision import _geometry as geometry
from dali_core.torchvision import _resampling as resampling
from dali_core.torchvision import _warping as warping
from dali_core.torchvision._color_transforms import checked_channels, checked_kernel
from dali_core.torchvision._frameworks import is_pillow, is_torch, torch
from dali_core.torchvision._pictures import Picture, as_dtype, of
from dali_core.torchvision._resampling import InterpolationMode

_Fill = float | Sequence[float] | None


def _computed(
    inpt: Any, what: str, device: str, function: Callable[[Picture], Picture], arrays: bool = False
) -> Any:
    """Apply a function to one image, or to all images of a batch."""
    check_host(device, f"torchvision.{what}")
    if is_torch(inpt) and inpt.ndim > 3:
        images = inpt.reshape(-1, *inpt.shape[-3:])
        found = torch().stack([function(of(image, what)).finish() for image in images])
        return found.reshape(*inpt.shape[:-3], *found.shape[1:])
    return function(of(inpt, what, arrays)).finish()


def resize(
    inpt: Any,
    size: int | Sequence[int] | None,
    interpolation: InterpolationMode = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
    device: str = "cpu",
) -> Any:
    """Resize an image; see `Resize`."""
    wanted = geometry.checked_size(size, max_size, "resize")
    mode = resampling.as_interpolation(interpolation, "resize")

    def compute(picture: Picture) -> Picture:
        extents = geometry.resized_size(picture.height, picture.width, wanted, max_size)
        return resampling.resize(picture, *extents, mode, antialias is None or bool(antialias))

    return _computed(inpt, "resize", device, compute)


def center_crop(inpt: Any, output_size: int | Sequence[int], device: str = "cpu") -> Any:
    """Cut out the middle; see `CenterCrop`."""
    extents = resampling.as_size(output_size, "center_crop", "output_size")
    return _computed(
        inpt, "center_crop", device, lambda picture: resampling.center_crop(picture, *extents)
    )


def crop(inpt: Any, top: int, left: int, height: int, width: int, device: str = "cpu") -> Any:
    """Cut out a window, in pixels; what lies outside the image is 0."""
    y, x, down, across = resampling.as_integers([top, left, height, width], "crop", "the window")
    return _computed(
        inpt, "crop", device, lambda picture: resampling.crop(picture, y, x, down, across)
    )


def resized_crop(
    inpt: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    size: int | Sequence[int],
    interpolation: InterpolationMode = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
    device: str = "cpu",
) -> Any:
    """Cut out a window and resize it; a size of one number is that of the shorter side."""
    window = [top, left, height, width]
    y, x, down, across = resampling.as_integers(window, "resized_crop", "the window")
    wanted = geometry.checked_size(size, None, "resized_crop")
    mode = resampling.as_interpolation(interpolation, "resized_crop")

    def compute(picture: Picture) -> Picture:
        cut = resampling.crop(picture, y, x, down, across)
        extents = geometry.resized_size(cut.height, cut.width, wanted, None)
        return resampling.resize(cut, *extents, mode, antialias is None or bool(antialias))

    return _computed(inpt, "resized_crop", device, compute)


def pad(
    inpt: Any,
    padding: int | Sequence[int],
    fill: _Fill = 0,
    padding_mode: str = "constant",
    device: str = "cpu",
) -> Any:
    """Add pixels on the sides; see `Pad`."""
    sides = arguments.padding(padding, "pad")
    value = arguments.fill(fill, "pad")
    mode = arguments.padding_mode(padding_mode, "pad")
    return _computed(
        inpt, "pad", device, lambda picture: resampling.pad(picture, sides, value, mode)
    )


def horizontal_flip(inpt: Any, device: str = "cpu") -> Any:
    """Mirror an image left to right."""
    return _computed(
        inpt, "horizontal_flip", device, lambda picture: resampling.flip(picture, horizontal=True)
    )


def vertical_flip(inpt: Any, device: str = "cpu") -> Any:
    """Mirror an image top to bottom."""
    return _computed(
        inpt, "vertical_flip", device, lambda picture: resampling.flip(picture, vertical=True)
    )


def rgb_to_grayscale(inpt: Any, num_output_channels: int = 1, device: str = "cpu") -> Any:
    """Make an image grey, in 1 or 3 channels."""
    channels = checked_channels(num_output_channels, "rgb_to_grayscale")
    return _computed(
        inpt, "rgb_to_grayscale", device, lambda picture: colors.grayscale(picture, channels)
    )


def to_grayscale(inpt: Any, num_output_channels: int = 1, device: str = "cpu") -> Any:
    """Make an image grey; see `rgb_to_grayscale`."""
    return rgb_to_grayscale(inpt, num_output_channels, device)


def gaussian_blur(
    inpt: Any,
    kernel_size: int | Sequence[int],
    sigma: float | Sequence[float] | None = None,
    device: str = "cpu",
) -> Any:
    """Blur with a Gaussian.

    Parameters
    ----------
    inpt : PIL.Image.Image or torch.Tensor
        The image.
    kernel_size : int or (int, int)
        Odd extents of the kernel, along x and along y.
    sigma : float or (float, float), optional
        Standard deviation along x and along y; by default one that fits the kernel.
    device : str
        ``"cpu"``.
    """
    kernel = checked_kernel(kernel_size, "gaussian_blur")
    if sigma is None:
        deviations = [0.3 * ((extent - 1) * 0.5 - 1) + 0.8 for extent in kernel]
    else:
        deviations = arguments.numbers(sigma, "gaussian_blur", "sigma")
    if len(deviations) not in (1, 2) or min(deviations) <= 0:
        raise ArgumentValueError(
            f"torchvision.gaussian_blur: sigma must be positive, one number or two (got {sigma!r})."
        )
    along = (deviations[0], deviations[-1])
    return _computed(
        inpt, "gaussian_blur", device, lambda picture: colors.blur(picture, kernel, along)
    )


def normalize(
    inpt: Any,
    mean: Sequence[float],
    std: Sequence[float],
    inplace: bool = False,
    device: str = "cpu",
) -> Any:
    """Normalise a tensor; see `Normalize`."""
    moments = conversions.checked_moments(mean, std, inplace, "normalize")
    return _computed(
        inpt, "normalize", device, lambda picture: conversions.normalized(picture, *moments)
    )


def pil_to_tensor(inpt: Any, device: str = "cpu") -> Any:
    """Make a tensor CHW of an image of Pillow, without changing numbers."""
    if not is_pillow(inpt):
        raise ArgumentTypeError(
            f"torchvision.pil_to_tensor: the image must be one of Pillow (got a "
            f"{type(inpt).__name__})."
        )
    return _computed(inpt, "pil_to_tensor", device, lambda picture: picture.with_kind("tensor"))


def to_tensor(inpt: Any, device: str = "cpu") -> Any:
    """Make a tensor CHW of an image of Pillow or an array HWC; that of 8 bits is from 0 to 1."""
    if is_torch(inpt):
        raise ArgumentTypeError(
            "torchvision.to_tensor: the image must be one of Pillow or an array (got a tensor)."
        )

    def compute(picture: Picture) -> Picture:
        made = picture.with_kind("tensor")
        return conversions.to_dtype(made, "float32", True) if made.dtype == "uint8" else made

    return _computed(inpt, "to_tensor", device, compute, arrays=True)


def to_pil_image(
    inpt: Any, mode: str | None = None, input_layout: str = "CHW", device: str = "cpu"
) -> Any:
    """Make an image of Pillow of a tensor or an array.

    Parameters
    ----------
    inpt : torch.Tensor or numpy.ndarray
        The image; a tensor in `input_layout`, an array HWC.
    mode : str, optional
        The mode, by default that of the number of channels.
    input_layout : str
        ``"CHW"`` or ``"HWC"``.
    device : str
        ``"cpu"``.
    """
    if input_layout not in ("CHW", "HWC"):
        raise ArgumentValueError(
            f"torchvision.to_pil_image: input_layout must be CHW or HWC (got {input_layout!r:.60})."
        )
    if is_pillow(inpt):
        raise ArgumentTypeError(
            "torchvision.to_pil_image: the image must be a tensor or an array (got one of Pillow)."
        )
    if is_torch(inpt):
        if inpt.ndim == 2:
            inpt = inpt[None] if input_layout == "CHW" else inpt[..., None]
        if inpt.ndim == 4:
            return [to_pil_image(image, mode, input_layout, device) for image in inpt]
        if input_layout == "HWC" and inpt.ndim == 3:
            inpt = inpt.permute(2, 0, 1)
    transform = conversions.ToPILImage(mode)
    return _computed(
        inpt,
        "to_pil_image",
        device,
        lambda picture: conversions.to_pillow(picture, transform.mode),
        arrays=True,
    )


def get_dimensions(inpt: Any, device: str = "cpu") -> list[int]:
    """Return the number of channels, height and width of an image."""
    if is_pillow(inpt):
        return [len(inpt.getbands()), inpt.height, inpt.width]
    if is_torch(inpt) and inpt.ndim >= 2:
        channels = 1 if inpt.ndim == 2 else inpt.shape[-3]
        return [channels, *inpt.shape[-2:]]
    raise ArgumentTypeError(
        "torchvision.get_dimensions: the image must be one of Pillow, or a tensor of at least two "
        f"dimensions (got a {type(inpt).__name__})."
    )


def get_image_size(inpt: Any, device: str = "cpu") -> list[int]:
    """Return width and height of an image."""
    return get_dimensions(inpt)[:0:-1]


def get_size(inpt: Any, device: str = "cpu") -> list[int]:
    """Return height and width of an image."""
    return get_dimensions(inpt)[1:]


def adjust_brightness(inpt: Any, brightness_factor: float, device: str = "cpu") -> Any:
    """Multiply all numbers."""
    return _adjusted(inpt, "adjust_brightness", brightness_factor, device, colors.brightness)


def adjust_contrast(inpt: Any, contrast_factor: float, device: str = "cpu") -> Any:
    """Multiply the differences to the mean of the grey image."""
    return _adjusted(inpt, "adjust_contrast", contrast_factor, device, colors.contrast)


def adjust_saturation(inpt: Any, saturation_factor: float, device: str = "cpu") -> Any:
    """Multiply the differences to the pixel's grey."""
    return _adjusted(inpt, "adjust_saturation", saturation_factor, device, colors.saturation)


def adjust_sharpness(inpt: Any, sharpness_factor: float, device: str = "cpu") -> Any:
    """Multiply the differences to the smoothed image."""
    return _adjusted(inpt, "adjust_sharpness", sharpness_factor, device, colors.sharpness)


def adjust_hue(inpt: Any, hue_factor: float, device: str = "cpu") -> Any:
    """Turn the hue by a share of the circle, from -0.5 to 0.5."""
    return _adjusted(inpt, "adjust_hue", hue_factor, device, colors.hue, -0.5, 0.5)


def _adjusted(
    inpt: Any,
    what: str,
    factor: Any,
    device: str,
    function: Callable[[Picture, float], Picture],
    low: float = 0.0,
    high: float = float("inf"),
) -> Any:
    (value,) = arguments.numbers(factor, what, "the factor")[:1]
    if not low <= value <= high:
        raise ArgumentValueError(
            f"torchvision.{what}: the factor must be from {low:g} to {high:g} (got {factor})."
        )
    return _computed(inpt, what, device, lambda picture: function(picture, value))


def invert(inpt: Any, device: str = "cpu") -> Any:
    """Subtract all numbers from the largest one."""
    return _computed(inpt, "invert", device, colors.invert)


def equalize(inpt: Any, device: str = "cpu") -> Any:
    """Equalise the histogram of each channel."""
    return _computed(inpt, "equalize", device, colors.equalize)


def autocontrast(inpt: Any, device: str = "cpu") -> Any:
    """Stretch each channel to the whole range."""
    return _computed(inpt, "autocontrast", device, colors.autocontrast)


def posterize(inpt: Any, bits: int, device: str = "cpu") -> Any:
    """Keep the upper bits of all numbers."""
    return _computed(inpt, "posterize", device, lambda p: colors.posterize(p, bits))


def solarize(inpt: Any, threshold: float, device: str = "cpu") -> Any:
    """Invert the numbers that are not below a threshold."""
    return _computed(inpt, "solarize", device, lambda p: colors.solarize(p, threshold))


def rotate(
    inpt: Any,
    angle: float,
    interpolation: InterpolationMode = InterpolationMode.NEAREST,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: _Fill = None,
    device: str = "cpu",
) -> Any:
    """Rotate by degrees counter-clockwise; see `RandomRotation`."""
    mode = resampling.as_interpolation(interpolation, "rotate")
    value = arguments.fill(fill, "rotate")
    return _computed(
        inpt, "rotate", device, lambda p: warping.rotate(p, angle, mode, expand, center, value)
    )


def affine(
    inpt: Any,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: float | Sequence[float],
    interpolation: InterpolationMode = InterpolationMode.NEAREST,
    fill: _Fill = None,
    center: Sequence[float] | None = None,
    device: str = "cpu",
) -> Any:
    """Rotate, move, scale and shear an image; see `RandomAffine`."""
    mode = resampling.as_interpolation(interpolation, "affine")
    value = arguments.fill(fill, "affine")
    angles = arguments.numbers(shear, "affine", "shear")
    along = (angles[0], angles[1] if len(angles) > 1 else 0.0)

    def compute(picture: Picture) -> Picture:
        middle = center or (picture.width / 2, picture.height / 2)
        matrix = warping.affine_matrix(angle, translate, scale, along, middle)
        return warping.affine(picture, matrix, mode, value)

    return _computed(inpt, "affine", device, compute)


def perspective(
    inpt: Any,
    startpoints: Sequence[Sequence[float]],
    endpoints: Sequence[Sequence[float]],
    interpolation: InterpolationMode = InterpolationMode.BILINEAR,
    fill: _Fill = None,
    device: str = "cpu",
) -> Any:
    """Move four points of an image to others; see `RandomPerspective`."""
    mode = resampling.as_interpolation(interpolation, "perspective")
    value = arguments.fill(fill, "perspective")
    matrix = warping.perspective_matrix(startpoints, endpoints)
    return _computed(
        inpt, "perspective", device, lambda p: warping.perspective(p, matrix, mode, value)
    )


def to_dtype(inpt: Any, dtype: Any = None, scale: bool = False, device: str = "cpu") -> Any:
    """Convert the numbers of a tensor; see `ToDtype`."""
    name = as_dtype(torch().float32 if dtype is None else dtype, "to_dtype")
    return _computed(
        inpt, "to_dtype", device, lambda picture: conversions.to_dtype(picture, name, scale)
    )


def erase(
    inpt: Any, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False, device: str = "cpu"
) -> Any:
    """Fill a window of an image with a tensor of values."""
    if inplace:
        raise NotImplementedError("torchvision.erase: images are never changed in place.")
    return _computed(inpt, "erase", device, lambda p: colors.erase(p, i, j, h, w, v))
