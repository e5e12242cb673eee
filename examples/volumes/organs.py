"""Generate volumes of a body with organs, and write them as NIfTI files."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

SHAPE = (48, 48, 40)
ORGANS = ("liver", "kidneys")
"""Names of the labels, from 1 on."""

_CODES = {"int16": 4, "uint8": 2}
_AIR, _BODY, _BONE = -1000.0, 20.0, 400.0
_VALUES = (70.0, 150.0)  # of the organs
_NOISE = 35.0


def make_volume(chance: np.random.Generator) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.uint8]]:
    """Return a volume in the units of a scanner, and the label of each voxel."""
    grid = np.stack(np.meshgrid(*map(np.arange, SHAPE), indexing="ij"), -1).astype(np.float32)
    middle = np.array(SHAPE) / 2 + chance.uniform(-2, 2, 3)

    def inside(offset: Sequence[float], radii: Sequence[float]) -> npt.NDArray[np.bool_]:
        place = middle + offset + chance.uniform(-1.5, 1.5, 3)
        wide = np.array(radii) * chance.uniform(0.85, 1.15, 3)
        distance: npt.NDArray[np.float32] = (((grid - place) / wide) ** 2).sum(-1)
        return distance < 1

    image = np.full(SHAPE, _AIR, np.float32)
    labels = np.zeros(SHAPE, np.uint8)
    image[inside((0, 0, 0), (20, 17, 30))] = _BODY
    image[inside((0, 12, 0), (3, 3, 30))] = _BONE
    parts = [(1, (-7, -3, 3), (8, 8, 9)), (2, (-9, 8, -8), (4, 4, 6)), (2, (9, 8, -8), (4, 4, 6))]
    for label, offset, radii in parts:
        organ = inside(offset, radii)
        image[organ], labels[organ] = _VALUES[label - 1], label
    image += chance.normal(0, _NOISE, SHAPE).astype(np.float32)
    return image.astype(np.int16), labels


def write_nifti(path: Path, volume: npt.NDArray[Any]) -> None:
    """Write a volume of voxels of 2 mm."""
    header = bytearray(352)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, 3, *volume.shape, 1, 1, 1, 1)
    code = _CODES[volume.dtype.name]
    struct.pack_into("<hh", header, 70, code, 8 * volume.dtype.itemsize)
    struct.pack_into("<8f", header, 76, 1, 2, 2, 2, 1, 1, 1, 1)
    struct.pack_into("<fff", header, 108, 352, 0, 0)
    header[344:348] = b"n+1\0"
    path.write_bytes(gzip.compress(bytes(header) + volume.tobytes(order="F"), 1))


def write_data_set(folder: Path, count: int, seed: Sequence[int]) -> None:
    """Write volumes and labels to the folders ``images`` and ``labels``."""
    for name in ("images", "labels"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for path in (folder / name).glob("*.nii.gz"):
            path.unlink()
    for number in range(count):
        image, labels = make_volume(np.random.default_rng([*seed, number]))
        write_nifti(folder / "images" / f"{number:03}.nii.gz", image)
        write_nifti(folder / "labels" / f"{number:03}.nii.gz", labels)
