"""Affine and perspective transforms of pictures.

Matrices take coordinates in the output to coordinates in the input, in pixels, with (0, 0) at the
outer corner of the first pixel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core import dynamic as dd
from dali_core import types
from dali_core.dynamic._tensors import Tensor
from dali_core.torchvision._frameworks import pillow
from dali_core.torchvision._pictures import Picture, numbers
from dali_core.torchvision._resampling import InterpolationMode, filling

_PILLOW = {
    InterpolationMode.NEAREST: 0,
    InterpolationMode.BILINEAR: 2,
    InterpolationMode.BICUBIC: 3,
}
_TYPES = {
    InterpolationMode.NEAREST: types.INTERP_NN,
    InterpolationMode.BILINEAR: types.INTERP_LINEAR,
    InterpolationMode.BICUBIC: types.INTERP_CUBIC,
}

Matrix = NDArray[np.float64]


def affine_matrix(
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Sequence[float],
    center: Sequence[float],
) -> Matrix:
    """Return the matrix of a rotation, shear and scaling around a centre, and a translation.

    Parameters
    ----------
    angle : float
        Angle in degrees, clockwise on the screen.
    translate : (float, float)
        Pixels to the right and down.
    scale : float
        Factor of the size.
    shear : (float, float)
        Angles in degrees along x and along y.
    center : (float, float)
        The centre in pixels.

    Returns
    -------
    array of shape (3, 3)
        From the output to the input.
    """
    turn, shear_x, shear_y = (math.radians(v) for v in (angle, *shear))
    rotation: Matrix = np.array(
        [[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]]
    )
    along_y = np.array([[1, 0], [-math.tan(shear_y), 1]])
    along_x = np.array([[1, -math.tan(shear_x)], [0, 1]])
    forward = np.eye(3)
    forward[:2, :2] = scale * rotation @ along_y @ along_x
    middle = np.array(center, dtype=np.float64)
    forward[:2, 2] = middle + np.array(translate) - forward[:2, :2] @ middle
    found: Matrix = np.linalg.inv(forward).astype(np.float64)
    return found


def affine(
    picture: Picture,
    matrix: Matrix,
    interpolation: InterpolationMode,
    fill: float | Sequence[float] | None,
    size: tuple[int, int] | None = None,
) -> Picture:
    """Warp a picture by a matrix of shape (3, 3) whose last row is (0, 0, 1)."""
    height, width = size or (picture.height, picture.width)
    if picture.kind == "pillow":
        coefficients = matrix[:2].ravel().tolist()
        return _by_pillow(picture, (height, width), "AFFINE", coefficients, interpolation, fill)
    return _warped(picture, matrix, interpolation, fill, (height, width), _affine)


def perspective(
    picture: Picture,
    matrix: Matrix,
    interpolation: InterpolationMode,
    fill: float | Sequence[float] | None,
    size: tuple[int, int] | None = None,
) -> Picture:
    """Warp a picture by a matrix of shape (3, 3)."""
    height, width = size or (picture.height, picture.width)
    if picture.kind == "pillow":
        coefficients = (matrix / matrix[2, 2]).ravel().tolist()[:8]
        return _by_pillow(
            picture, (height, width), "PERSPECTIVE", coefficients, interpolation, fill
        )
    return _warped(picture, matrix, interpolation, fill, (height, width), _perspective)


def _affine(value: Tensor, matrix: Matrix, size: Tensor, fill: float, filter: Any) -> Tensor:  # noqa: A002
    found: Tensor = dd.warp_affine(
        value, matrix=numbers(matrix[:2].ravel()), size=size, interp_type=filter, fill_value=fill
    )
    return found


def _perspective(value: Tensor, matrix: Matrix, size: Tensor, fill: float, filter: Any) -> Tensor:  # noqa: A002
    found: Tensor = dd.experimental.warp_perspective(
        value, matrix=numbers(matrix.ravel()), size=size, interp_type=filter, fill_value=[fill]
    )
    return found


def _warped(
    picture: Picture,
    matrix: Matrix,
    interpolation: InterpolationMode,
    fill: float | Sequence[float] | None,
    size: tuple[int, int],
    warp: Callable[..., Tensor],
) -> Picture:
    """Warp a tensor by the rules of torchvision.

    Pixels count as little as they are outside, and what is missing is filled. With a fill value,
    torchvision does the former twice.
    """
    if interpolation is InterpolationMode.BICUBIC:
        warp = _perspective
    filter, extents = _TYPES[interpolation], numbers(size)  # noqa: A001
    values = filling(picture, fill)
    is_nearest = filter == types.INTERP_NN
    if (is_nearest and len(set(values)) == 1) or fill is None:
        value = warp(picture.hwc, matrix, extents, values[0], filter)
        return picture.with_value(value, "HWC", size)
    ones = np.ones((picture.height, picture.width, 1), np.float32)
    inside = warp(dd.as_tensor(ones, layout="HWC"), matrix, extents, 0.0, filter)
    outside = dd.as_tensor(np.array(values, np.float32)[None, None], layout="HWC")
    found = warp(dd.cast(picture.hwc, dtype=types.FLOAT), matrix, extents, 0.0, filter)
    value = dd.cast((found - outside) * inside + outside, dtype=picture.type_id)
    return picture.with_value(value, "HWC", size)


def _by_pillow(
    picture: Picture,
    size: tuple[int, int],
    method: str,
    coefficients: Sequence[float],
    interpolation: InterpolationMode,
    fill: float | Sequence[float] | None,
) -> Picture:
    values = tuple(int(v) for v in filling(picture, fill))
    kind = pillow().Transform[method]
    return picture.by_pillow(
        lambda image: image.transform(
            (size[1], size[0]),
            kind,
            tuple(coefficients),
            _PILLOW[interpolation],
            fillcolor=values if len(values) > 1 else values[0],
        )
    )


def rotate(
    picture: Picture,
    angle: float,
    interpolation: InterpolationMode = InterpolationMode.NEAREST,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: float | Sequence[float] | None = None,
) -> Picture:
    """Rotate a picture by degrees counter-clockwise on the screen.

    Parameters
    ----------
    picture : Picture
        The picture.
    angle : float
        The angle.
    interpolation : InterpolationMode
        How pixels are found.
    expand : bool
        Whether the output is so large that it shows the whole picture.
    center : (float, float), optional
        The centre in pixels, by default that of the picture.
    fill : float or sequence of float, optional
        Value outside of the picture.
    """
    width, height = picture.width, picture.height
    if picture.kind == "pillow":
        values = tuple(int(v) for v in filling(picture, fill))
        return picture.by_pillow(
            lambda image: image.rotate(
                angle,
                _PILLOW[interpolation],
                expand,
                None if center is None else tuple(center),
                fillcolor=values if len(values) > 1 else values[0],
            )
        )
    middle = [width / 2, height / 2] if center is None else center
    matrix = affine_matrix(-angle, (0, 0), 1.0, (0, 0), middle)
    size = None
    if expand:
        centered = affine_matrix(-angle, (0, 0), 1.0, (0, 0), (width / 2, height / 2))
        corners = np.array([[0, 0, 1], [width, 0, 1], [width, height, 1], [0, height, 1]])
        placed = (np.linalg.inv(centered) @ corners.T)[:2]
        low, high = placed.min(1), placed.max(1)
        # A corner that is on a pixel's edge but for rounding adds no pixel.
        extent = np.ceil(high - 1e-3) - np.floor(low + 1e-3)
        size = (int(extent[1]), int(extent[0]))
        shift = np.eye(3)
        shift[:2, 2] = [(width - size[1]) / 2, (height - size[0]) / 2]
        matrix = matrix @ shift
    return affine(picture, matrix, interpolation, fill, size)


def perspective_matrix(
    startpoints: Sequence[Sequence[float]], endpoints: Sequence[Sequence[float]]
) -> Matrix:
    """Return the matrix that takes four points of the output to those of the input.

    Parameters
    ----------
    startpoints : sequence of (x, y)
        Four points of the input.
    endpoints : sequence of (x, y)
        The same points in the output.
    """
    rows, sides = [], []
    for (u, v), (x, y) in zip(startpoints, endpoints, strict=True):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y])
        sides += [u, v]
    found = np.linalg.lstsq(np.array(rows, np.float64), np.array(sides, np.float64), rcond=None)[0]
    return np.append(found, 1.0).reshape(3, 3)
