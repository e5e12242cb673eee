"""Augmentations of images (HWC) and sequences of frames (FHWC), of dtype UINT8.

They correspond to operations of Pillow. With ``.augmentation(...)`` the range of magnitudes can be
changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core import fn, types
from dali_core._graph.node import DataNode
from dali_core.auto_aug.core import augmentation
from dali_core.errors import ArgumentValueError

_LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)
"""Weights of red, green and blue in grey, ITU-R BT.601."""

_SMOOTHING = np.array([[1, 1, 1], [1, 5, 1], [1, 1, 1]], dtype=np.float32) / 13
"""The kernel that Pillow's `ImageFilter.SMOOTH` has."""


# From magnitudes to parameters


def warp_x_param(magnitude: float) -> list[float]:
    """Return a parameter along x only."""
    return [magnitude, 0]


def warp_y_param(magnitude: float) -> list[float]:
    """Return a parameter along y only."""
    return [0, magnitude]


def shift_enhance_range(magnitude: float) -> float:
    """Return a factor that changes nothing for the magnitude 0."""
    return 1 + magnitude


def sharpness_kernel(magnitude: float) -> NDArray[np.float32]:
    """Return a kernel (3, 3) that blurs for -1, changes nothing for 0 and sharpens above."""
    unchanged = np.zeros((3, 3), dtype=np.float32)
    unchanged[1, 1] = 1
    kernel: NDArray[np.float32] = unchanged + np.float32(magnitude) * (unchanged - _SMOOTHING)
    return kernel


def sharpness_kernel_shifted(magnitude: float) -> NDArray[np.float32]:
    """Return a kernel (3, 3) that blurs for 0, changes nothing for 1 and sharpens above."""
    return sharpness_kernel(magnitude - 1)


def poster_mask_uint8(magnitude: float) -> NDArray[np.uint8]:
    """Return a mask of as many upper bits of a byte, at least one."""
    bits = min(max(round(float(magnitude)), 1), 8)
    return np.array(0xFF << (8 - bits) & 0xFF, dtype=np.uint8)


def solarize_add_shift(shift: float) -> NDArray[np.uint8]:
    """Return the number that `solarize_add` adds.

    Raises
    ------
    ArgumentValueError
        If it is not from 0 to 127, so that results might exceed 255.
    """
    if not 0 <= int(shift) < 128:
        raise ArgumentValueError(
            f"augmentation 'solarize_add': magnitudes must be from 0 to 127 (got {shift:g}). "
            "Choose a 'mag_range' within."
        )
    return np.array(int(shift), dtype=np.uint8)


# Geometry


@augmentation(mag_range=(0, 0.3), randomly_negate=True, mag_to_param=warp_x_param)
def shear_x(
    data: DataNode,
    shear: DataNode,
    fill_value: float | None = 128,
    interp_type: types.DALIInterpType | None = None,
) -> DataNode:
    """Shear along x: a row moves by its number times the magnitude."""
    return _warped(data, fn.transforms.shear(shear=shear), fill_value, interp_type)


@augmentation(mag_range=(0, 0.3), randomly_negate=True, mag_to_param=warp_y_param)
def shear_y(
    data: DataNode,
    shear: DataNode,
    fill_value: float | None = 128,
    interp_type: types.DALIInterpType | None = None,
) -> DataNode:
    """Shear along y: a column moves by its number times the magnitude."""
    return _warped(data, fn.transforms.shear(shear=shear), fill_value, interp_type)


@augmentation(mag_range=(0.0, 1.0), randomly_negate=True, mag_to_param=warp_x_param)
def translate_x(
    data: DataNode,
    rel_offset: DataNode,
    shape: DataNode | Sequence[int],
    fill_value: float | None = 128,
    interp_type: types.DALIInterpType | None = None,
) -> DataNode:
    """Translate along x, by a magnitude relative to the width."""
    return _translated(data, rel_offset * _size(shape), fill_value, interp_type)


@augmentation(
    mag_range=(0, 250), randomly_negate=True, mag_to_param=warp_x_param, name="translate_x"
)
def translate_x_no_shape(
    data: DataNode,
    offset: DataNode,
    fill_value: float | None = 128,
    interp_type: types.DALIInterpType | None = None,
) -> DataNode:
    """Translate along x, by a magnitude in pixels."""
    return _translated(data, offset, fill_value, interp_type)


@augmentation(mag_range=(0.0, 1.0), randomly_negate=True, mag_to_param=warp_y_param)
def translate_y(
    data: DataNode,
    rel_offset: DataNode,
    shape: DataNode | Sequence[int],
    fill_value: float | None = 128,
    interp_type: types.DALIInterpType | None = None,
) -> DataNode:
    """Translate along y, by a magnitude relative to the height."""
    return _translated(data, rel_offset * _size(shape), fill_value, interp_type)


@augmentation(
    mag_range=(0, 250), randomly_negate=True, mag_to_param=warp_y_param, name="translate_y"
)
def translate_y_no_shape(
    data: DataNode,
    offset: DataNode,
    fill_value: float | None = 128,
    interp_type: types.DALIInterpType | None = None,
) -> DataNode:
    """Translate along y, by a magnitude in pixels."""
    return _translated(data, offset, fill_value, interp_type)


@augmentation(mag_range=(0, 30), randomly_negate=True)
def rotate(
    data: DataNode,
    angle: DataNode,
    fill_value: float | None = 128,
    interp_type: types.DALIInterpType | None = None,
    rotate_keep_size: bool = True,
) -> DataNode:
    """Rotate counter-clockwise around the centre, by a magnitude in degrees."""
    border = _border(fill_value, interp_type)
    return fn.rotate(data, angle=angle, keep_size=rotate_keep_size, **border)


def _warped(
    data: DataNode,
    matrix: DataNode,
    fill_value: float | None,
    interp_type: types.DALIInterpType | None,
) -> DataNode:
    border = _border(fill_value, interp_type)
    return fn.warp_affine(data, matrix=matrix, inverse_map=False, **border)


def _translated(
    data: DataNode,
    offset: DataNode,
    fill_value: float | None,
    interp_type: types.DALIInterpType | None,
) -> DataNode:
    return _warped(data, fn.transforms.translation(offset=offset), fill_value, interp_type)


def _border(fill_value: float | None, interp_type: types.DALIInterpType | None) -> dict[str, Any]:
    stated = {"fill_value": fill_value, "interp_type": interp_type}
    return {name: value for name, value in stated.items() if value is not None}


def _size(shape: DataNode | Sequence[int]) -> DataNode | NDArray[np.float32]:
    """Return width and height, of a shape that begins with height and width."""
    if isinstance(shape, DataNode):
        return fn.cast(fn.stack(shape[1], shape[0]), dtype=types.FLOAT)
    return np.array([shape[1], shape[0]], dtype=np.float32)


# Colours


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=shift_enhance_range)
def brightness(data: DataNode, parameter: DataNode) -> DataNode:
    """Multiply by a factor; 0 gives black."""
    return fn.brightness(data, brightness=parameter)


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=shift_enhance_range)
def contrast(data: DataNode, parameter: DataNode) -> DataNode:
    """Scale differences to the mean grey of an image by a factor; 0 gives that grey."""
    means = fn.reductions.mean(data, axis_names="HW")
    center = fn.reductions.sum(means * _LUMA, axes=[-1])
    return fn.contrast(data, contrast=parameter, contrast_center=center)


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=shift_enhance_range)
def color(data: DataNode, parameter: DataNode) -> DataNode:
    """Scale differences to the grey of a pixel by a factor; 0 gives a grey image."""
    return fn.saturation(data, saturation=parameter)


@augmentation(
    mag_range=(0, 0.9), randomly_negate=True, mag_to_param=sharpness_kernel, param_device="auto"
)
def sharpness(data: DataNode, kernel: DataNode) -> DataNode:
    """Convolve with a kernel that sharpens or blurs.

    Pixels of the border are computed like all others, from reflected neighbours; Pillow copies
    them.
    """
    return fn.filter(data, kernel)


@augmentation(
    mag_range=(0, 4), randomly_negate=False, mag_to_param=poster_mask_uint8, param_device="auto"
)
def posterize(data: DataNode, mask: DataNode) -> DataNode:
    """Keep the upper bits of each value, as many as the magnitude."""
    return data & mask


@augmentation(mag_range=(256, 0), randomly_negate=False, param_device="auto")
def solarize(data: DataNode, threshold: DataNode) -> DataNode:
    """Invert values that are not below the threshold."""
    inverted = fn.cast(data >= threshold, dtype=types.UINT8) * np.uint8(255)
    result: DataNode = data ^ inverted
    return result


@augmentation(
    mag_range=(0, 110), randomly_negate=False, mag_to_param=solarize_add_shift, param_device="auto"
)
def solarize_add(data: DataNode, shift: DataNode) -> DataNode:
    """Add a number to values below 128."""
    return data + fn.cast(data < 128, dtype=types.UINT8) * shift


@augmentation
def invert(data: DataNode, _: None) -> DataNode:
    """Subtract each value from 255."""
    result: DataNode = data ^ np.uint8(255)
    return result


@augmentation
def equalize(data: DataNode, _: None) -> DataNode:
    """Equalise the histogram of each channel, by OpenCV's formula."""
    return fn.equalize(data)


@augmentation
def auto_contrast(data: DataNode, _: None) -> DataNode:
    """Stretch each channel to the range from 0 to 255; channels of one value stay as they are."""
    lowest, highest = (
        reduce(data, axis_names="HW", keep_dims=True)
        for reduce in (fn.reductions.min, fn.reductions.max)
    )
    span = fn.cast(highest, dtype=types.INT32) - lowest
    is_flat = fn.cast(span == 0, dtype=types.INT32)
    scale = 255.0 / (span + 255 * is_flat)
    return fn.cast((data - lowest * (1 - is_flat)) * scale, dtype=types.UINT8)


@augmentation
def identity(data: DataNode, _: None) -> DataNode:
    """Change nothing."""
    return data
