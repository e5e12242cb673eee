"""Headers of NIfTI files: shape, type, scaling and affine of the volume."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

HEADER_BYTES = 544
"""As many as the larger of the two headers has, with the marks of its extensions."""

_TYPES = {
    2: "u1",
    4: "i2",
    8: "i4",
    16: "f4",
    64: "f8",
    256: "i1",
    512: "u2",
    768: "u4",
    1024: "i8",
    1280: "u8",
}
_AXES = ("RL", "AP", "SI")

ORIENTATIONS = tuple("".join(letters) for axes in permutations(_AXES) for letters in product(*axes))
"""Of the three axes of a volume, the directions in which they ascend, such as ``"RAS"``."""


@dataclass(frozen=True)
class Header:
    """The header of a NIfTI file.

    Attributes
    ----------
    shape : tuple of int
        Of the volume; the first axis is contiguous in the file.
    dtype : numpy.dtype
        Of its elements in the file.
    offset : int
        First byte of the data.
    scale : (float, float) or None
        What elements are multiplied by, and what is added then.
    affine : array
        From indices to places, float64 (4, 4).
    is_pair : bool
        Whether the data is in a file of its own.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int
    scale: tuple[float, float] | None
    affine: NDArray[np.float64]
    is_pair: bool

    @property
    def num_bytes(self) -> int:
        """The number of bytes of the data."""
        return math.prod(self.shape) * self.dtype.itemsize

    @classmethod
    def parse(cls, data: bytes) -> Header:
        """Read a header.

        Raises
        ------
        ValueError
            If it is none, or arrays cannot have its type.
        """
        order, is_second = _form(data)
        if is_second:
            kind = _read(order, "h", data, 12)[0]
            dims = _read(order, "8q", data, 16)
            zooms = _read(order, "8d", data, 104)
            offset, slope, inter = _read(order, "qdd", data, 168)
            codes = _read(order, "2i", data, 344)
            quaternion, rows = _read(order, "6d", data, 352), _read(order, "12d", data, 400)
        else:
            dims = _read(order, "8h", data, 40)
            kind = _read(order, "h", data, 70)[0]
            zooms = _read(order, "8f", data, 76)
            offset, slope, inter = _read(order, "fff", data, 108)
            codes = _read(order, "2h", data, 252)
            quaternion, rows = _read(order, "6f", data, 256), _read(order, "12f", data, 280)
        if not 1 <= dims[0] <= 7 or min(dims[1 : dims[0] + 1]) < 1:
            raise ValueError(f"a volume must have 1 to 7 extents of at least 1 (got {dims})")
        if kind not in _TYPES:
            raise ValueError(f"elements must be real numbers of up to 64 bits (got type {kind})")
        magic = data[4:8] if is_second else data[344:348]
        is_pair = magic[1:2] == b"i"
        if not math.isfinite(offset) or not 0 <= offset < 1 << 62:
            raise ValueError(f"the data must begin in the file (got vox_offset {offset})")
        if not offset and not is_pair:
            offset = HEADER_BYTES if is_second else 352
        scale = None
        if math.isfinite(slope) and slope:
            if not math.isfinite(inter):
                raise ValueError(f"scl_inter must be a finite number (got {inter})")
            scale = (slope, inter) if (slope, inter) != (1, 0) else None
        shape = tuple(dims[1 : dims[0] + 1])
        affine = _affine(shape, zooms, codes, quaternion, rows)
        dtype = np.dtype(order + _TYPES[kind])
        return cls(shape, dtype, int(offset), scale, affine, is_pair)

    def volume(self, data: bytes) -> NDArray[np.float32]:
        """Return the scaled elements, rounded once."""
        stored: NDArray[Any] = np.frombuffer(data, self.dtype).reshape(self.shape, order="F")
        volume = np.empty(self.shape, np.float32)
        # Planes fit into the cache, in which their axes change places.
        planes = self.shape[1] if len(self.shape) > 1 else 0
        parts: list[Any] = [(slice(None), plane) for plane in range(planes)] or [...]
        for part in parts:
            if self.scale is None:
                volume[part] = stored[part]
            else:
                slope, inter = map(np.float64, self.scale)
                volume[part] = stored[part] * slope + inter
        return volume


def _form(data: bytes) -> tuple[str, bool]:
    for order in "<>":
        for size, place, magics in (
            (348, 344, (b"n+1\0", b"ni1\0")),
            (540, 4, (b"n+2\0\r\n\x1a\n", b"ni2\0\r\n\x1a\n")),
        ):
            magic = data[place : place + len(magics[0])]
            if data[:4] == struct.pack(f"{order}i", size) and magic in magics:
                if len(data) < size:
                    break
                return order, size == 540
    raise ValueError("it must begin with a header of NIfTI-1 or NIfTI-2")


def _read(order: str, kinds: str, data: bytes, place: int) -> tuple[Any, ...]:
    return struct.unpack_from(order + kinds, data, place)


def _affine(
    shape: tuple[int, ...],
    zooms: tuple[float, ...],
    codes: tuple[int, int],
    quaternion: tuple[float, ...],
    rows: tuple[float, ...],
) -> NDArray[np.float64]:
    affine = np.eye(4)
    if codes[1]:  # sform
        affine[:3] = np.reshape(rows, (3, 4))
    elif codes[0]:  # qform
        sizes = np.abs(zooms[1:4]) * (1, 1, -1 if zooms[0] < 0 else 1)
        affine[:3, :3] = _rotation(*quaternion[:3]) * sizes
        affine[:3, 3] = quaternion[3:]
    else:
        count = min(len(shape), 3)
        sizes, extents = np.ones(3), np.ones(3)
        sizes[:count], extents[:count] = zooms[1 : count + 1], shape[:count]
        sizes[0] *= -1
        affine[:3, :3] = np.diag(sizes)
        affine[:3, 3] = -(extents - 1) / 2 * sizes
    return affine


def _rotation(x: float, y: float, z: float) -> NDArray[np.float64]:
    rest = 1 - (x * x + y * y + z * z)
    if not rest >= -1e-6:
        raise ValueError("the quaternion must be that of a rotation")
    w = math.sqrt(max(rest, 0))
    scale = 2 / (w * w + x * x + y * y + z * z)
    return np.array(
        [
            [1 - scale * (y * y + z * z), scale * (x * y - w * z), scale * (x * z + w * y)],
            [scale * (x * y + w * z), 1 - scale * (x * x + z * z), scale * (y * z - w * x)],
            [scale * (x * z - w * y), scale * (y * z + w * x), 1 - scale * (x * x + y * y)],
        ]
    )


def reoriented(
    volume: NDArray[np.float32], affine: NDArray[np.float64], orientation: str
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Flip and permute axes, so that they ascend in other directions; nothing is resampled.

    Raises
    ------
    ValueError
        If the volume has not three axes with directions of their own.
    """
    if volume.ndim < 3:
        raise ValueError(f"a volume with an orientation must have 3 axes (it has {volume.ndim})")
    nearest = _nearest_axes(affine[:3, :3])
    moved = np.zeros((4, 4))
    moved[3, 3] = 1
    order, flips = [], []
    for number, letter in enumerate(orientation):
        world = next(axis for axis, letters in enumerate(_AXES) if letter in letters)
        source = [axis for axis, _ in nearest].index(world)
        sign = nearest[source][1] * (1 if letter == _AXES[world][0] else -1)
        order.append(source)
        flips.append(slice(None, None, sign))
        moved[source, number] = sign
        moved[source, 3] = 0 if sign > 0 else volume.shape[source] - 1
    turned = volume.transpose(*order, *range(3, volume.ndim))[tuple(flips)]
    return np.ascontiguousarray(turned), affine @ moved


def _nearest_axes(matrix: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return, for each axis of a volume, the axis of the world that is nearest, and its sign."""
    if not np.isfinite(matrix).all():
        raise ValueError("the affine must have finite numbers")
    sizes = np.sqrt((matrix**2).sum(0))
    left, values, right = np.linalg.svd(matrix / np.where(sizes == 0, 1, sizes))
    if values.min() <= values.max() * 3 * np.finfo(float).eps:
        raise ValueError("the axes must have directions of their own")
    rotation = left @ right
    found = {}
    # Those that point most clearly come first, as in nibabel.
    for number in np.argsort(-(rotation**2).max(0), kind="stable").tolist():
        axis = int(np.abs(rotation[:, number]).argmax())
        found[number] = (axis, 1 if rotation[axis, number] > 0 else -1)
        rotation[axis] = 0
    return [found[number] for number in range(3)]
