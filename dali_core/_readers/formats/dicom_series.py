"""Series of DICOM: slices in the order of their positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dali_core._readers.formats.dicom_image import Image

_TOLERANCE = 0.01  # of the distance of slices
_LEAST = 1e-3  # millimetres, to which positions are rounded


class Slice(NamedTuple):
    """A frame of a file.

    Attributes
    ----------
    file, frame : int
        Number of the file, and of the frame in it.
    image : Image
        The header of the file.
    """

    file: int
    frame: int
    image: Image


def ordered(slices: Sequence[Slice]) -> tuple[list[Slice], NDArray[np.float64]]:
    """Order the slices of a series, and find where they are.

    Without positions, the numbers of files decide, and the affine has only distances.

    Returns
    -------
    slices : list of Slice
        In the direction of the normal of the first slice.
    affine : array
        From indices of slice, row and column to millimetres, float64 of (4, 4).

    Raises
    ------
    ValueError
        If slices do not fit each other, or one is missing or comes twice.
    """
    first = slices[0].image
    if any(one.image.shape != first.shape for one in slices) or first.shape[2] != 1:
        raise ValueError("slices must all have as many rows and columns, and no colours")
    frames = [one.image.frames[one.frame] for one in slices]
    spacing = frames[0].spacing or (1.0, 1.0)
    if any((frame.spacing or (1.0, 1.0)) != spacing for frame in frames):
        raise ValueError("slices must all have one distance of rows and of columns")
    positions = [frame.position for frame in frames]
    orientation = frames[0].orientation
    if None in positions or orientation is None:
        return _numbered(slices, spacing)
    if any(
        frame.orientation is None or not np.allclose(frame.orientation, orientation, atol=1e-4)
        for frame in frames
    ):
        raise ValueError("slices must all have one orientation")
    rows, columns = np.reshape(orientation, (2, 3))
    normal = np.cross(rows, columns)
    if not np.linalg.norm(normal) > 0.5:
        raise ValueError("rows and columns must have directions of their own")
    places = np.array(positions, np.float64)
    along = places @ normal
    order = np.argsort(along, kind="stable")
    found = [slices[number] for number in order]
    affine = np.eye(4)
    affine[:3, 1], affine[:3, 2] = columns * spacing[0], rows * spacing[1]
    affine[:3, 3] = places[order[0]]
    affine[:3, 0] = normal * first.thickness
    if len(slices) > 1:
        _check_distances(np.diff(along[order]))
        affine[:3, 0] = (places[order[-1]] - places[order[0]]) / (len(slices) - 1)
    return found, affine


def _check_distances(distances: NDArray[np.float64]) -> None:
    usual = float(np.median(distances))
    if distances.min() < _LEAST:
        number = int(np.argmin(distances))
        raise ValueError(
            f"slices must be at places of their own ({number} and {number + 1} are at one; times "
            "or echoes of a series must be in series of their own)"
        )
    wrong = np.flatnonzero(np.abs(distances - usual) > max(_TOLERANCE * usual, _LEAST))
    if len(wrong):
        number = int(wrong[0])
        raise ValueError(
            f"slices must be at one distance ({number} and {number + 1} are "
            f"{distances[number]:.3f} mm from each other, and most {usual:.3f} mm). Slices may be "
            "missing"
        )


def _numbered(
    slices: Sequence[Slice], spacing: tuple[float, ...]
) -> tuple[list[Slice], NDArray[np.float64]]:
    files = {one.file for one in slices}
    numbers = {one.file: one.image.number for one in slices}
    if len(files) > 1 and (None in numbers.values() or len(set(numbers.values())) < len(files)):
        raise ValueError("slices must have positions, or numbers of their own")
    found = sorted(slices, key=lambda one: (numbers[one.file] or 0, one.frame))
    return found, np.diag([slices[0].image.thickness, *spacing, 1.0])
