"""Pictures in the eight orientations of Exif, and the display matrices that mean the same."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]

MATRICES = {
    1: (1, 0, 0, 1),
    2: (-1, 0, 0, 1),
    3: (-1, 0, 0, -1),
    4: (1, 0, 0, -1),
    5: (0, 1, 1, 0),
    6: (0, 1, -1, 0),
    7: (0, -1, -1, 0),
    8: (0, -1, 1, 0),
}
"""a, b, c and d of the matrix of each orientation: what is stored at (p, q), p to the right and q
downwards, is shown at (a p + c q, b p + d q) (ISO 14496-12, 6.2.2; CIPA DC-008-2019, 4.6.4)."""


def upright_of(stored: Array, orientation: int) -> Array:
    """Return the upright picture of a stored one.

    Parameters
    ----------
    stored
        Array of shape (height, width, ...).
    orientation
        Number of Exif, 1 to 8.
    """
    a, b, c, d = MATRICES[orientation]
    return stored[::d, ::a] if a else stored.swapaxes(0, 1)[::b, ::c]


def stored_of(upright: Array, orientation: int) -> Array:
    """Return the picture that is stored for an upright one."""
    return upright_of(upright, {6: 8, 8: 6}.get(orientation, orientation))
