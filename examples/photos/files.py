"""Store a picture like a photo in practice."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

SMALLEST_SIDE = 80
LARGEST_SIDE = 900

_ORIENTATION_TAG = 0x0112

# Converts an upright picture to the stored pixels, for each value of the EXIF orientation tag
# (JEITA CP-3451, "Orientation"): the inverse of what a viewer does.
_TO_STORED = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_90,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}


@dataclass(frozen=True)
class Storage:
    """How one file is stored.

    Attributes
    ----------
    mode : str
        "RGB", "L" (grey) or "CMYK".
    orientation : int
        EXIF orientation tag, 1 to 8; 0 for a file without EXIF data.
    quality : int
        JPEG quality.
    subsampling : int
        Chroma subsampling: 0 is 4:4:4, 1 is 4:2:2, 2 is 4:2:0.
    progressive : bool
        Whether the scans refine each other.
    """

    mode: str
    orientation: int
    quality: int
    subsampling: int
    progressive: bool


def draw_size(random: np.random.Generator) -> tuple[int, int]:
    """Draw the height and width of an upright picture."""
    longer = np.exp(random.uniform(np.log(120), np.log(1.1 * LARGEST_SIDE)))
    shorter = longer / random.choice([1, 5 / 4, 4 / 3, 3 / 2, 16 / 9])
    longer, shorter = (
        int(np.clip(round(side), SMALLEST_SIDE, LARGEST_SIDE)) for side in (longer, shorter)
    )
    return (shorter, longer) if random.random() < 0.6 else (longer, shorter)


def draw_storage(random: np.random.Generator) -> Storage:
    """Draw how a file is stored: mostly colour and upright, sometimes not."""
    return Storage(
        mode="L" if random.random() < 0.06 else "RGB",
        orientation=int(random.integers(1, 9)) if random.random() < 0.2 else 0,
        quality=int(random.integers(70, 98)),
        subsampling=int(random.choice([0, 1, 2], p=[0.15, 0.15, 0.7])),
        progressive=bool(random.random() < 0.15),
    )


def save(path: Path, upright: npt.NDArray[np.uint8], storage: Storage) -> None:
    """Write an upright picture as a JPEG file.

    Parameters
    ----------
    path : Path
        The file to write.
    upright : uint8 array of shape (height, width, 3)
        The picture as a viewer has to show it. Its pixels are stored turned or mirrored so that the
        EXIF orientation tag brings them back.
    storage : Storage
        How to store it.
    """
    picture = Image.fromarray(upright).convert(storage.mode)
    options: dict[str, Any] = {"quality": storage.quality, "progressive": storage.progressive}
    if storage.mode != "L":
        options["subsampling"] = storage.subsampling
    if storage.orientation:
        exif = Image.Exif()
        exif[_ORIENTATION_TAG] = storage.orientation
        options["exif"] = exif
    if storage.orientation in _TO_STORED:
        picture = picture.transpose(_TO_STORED[storage.orientation])
    picture.save(path, "JPEG", **options)
