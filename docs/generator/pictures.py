"""Photos for the programs of the documentation to read, and pictures of what they make of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from examples.photos.camera import take
from examples.photos.dataset import SCENES

CLASSES = {"city": "towers", "flowers": "flowers"}
HEIGHT, WIDTH = 160, 240


def photo(scene: str, number: int) -> np.ndarray:
    """Draw a photo: (height, width, 3) uint8."""
    random = np.random.default_rng([number, list(CLASSES.values()).index(scene) ^ 1])
    return take(random, SCENES[scene](random, HEIGHT, WIDTH))


def make_photos(folder: Path, per_class: int = 4) -> None:
    """Make the folder `photos` that programs of the documentation read."""
    for name, scene in CLASSES.items():
        target = folder / "photos" / name
        target.mkdir(parents=True)
        for number in range(per_class):
            Image.fromarray(photo(scene, number)).save(target / f"{number}.jpg", quality=95)


def save_picture(array: np.ndarray, path: Path) -> None:
    """Save an image of any type; floats are stretched between their smallest and largest number."""
    shown = array
    if array.dtype != np.uint8:
        wide = array.astype(np.float64)
        span = wide.max() - wide.min()
        shown = ((wide - wide.min()) * (255 / span if span else 0)).astype(np.uint8)
    Image.fromarray(shown[..., 0] if shown.shape[2] == 1 else shown).save(path, quality=85)
