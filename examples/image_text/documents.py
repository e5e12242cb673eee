"""Generated documents: one to three images of any size, and a caption that names what they show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

COLOURS = {
    "red": (210, 40, 40),
    "green": (40, 160, 60),
    "blue": (40, 70, 210),
    "yellow": (230, 210, 50),
    "violet": (140, 50, 170),
}
SHAPES = ("disc", "square", "triangle")
SMALLEST, LARGEST = 40, 160
"""Sides of images in pixels."""


@dataclass(frozen=True)
class Documents:
    """Documents on disk.

    Attributes
    ----------
    images : list of Path
        The images of all documents, one document after the other.
    counts : list of int
        How many images each document has.
    captions : Path
        A file with a caption on each line.
    """

    images: list[Path]
    counts: list[int]
    captions: Path


def draw_image(colour: str, shape: str, random: np.random.Generator) -> Image.Image:
    """Return an image of a shape, of random size and place."""
    width, height = (int(side) for side in random.integers(SMALLEST, LARGEST + 1, 2))
    grey = int(random.integers(0, 60))
    image = Image.new("RGB", (width, height), (grey, grey, grey))
    side = float(min(width, height) * random.uniform(0.6, 0.9))
    left, top = random.uniform(0, width - side), random.uniform(0, height - side)
    box = (left, top, left + side, top + side)
    canvas = ImageDraw.Draw(image)
    if shape == "disc":
        canvas.ellipse(box, COLOURS[colour])
    elif shape == "square":
        canvas.rectangle(box, COLOURS[colour])
    else:
        peak = (left + side / 2, top)
        canvas.polygon([peak, (left, top + side), (left + side, top + side)], COLOURS[colour])
    return image


def write_documents(folder: Path, count: int, seed: Sequence[int]) -> Documents:
    """Write documents as JPEG files, and a file of captions.

    Parameters
    ----------
    folder : Path
        Where to.
    count : int
        Number of documents.
    seed : sequence of int
        Others give other documents.
    """
    folder.mkdir(parents=True, exist_ok=True)
    images, counts, captions = [], [], []
    for number in range(count):
        random = np.random.default_rng([*seed, number])
        counts.append(int(random.integers(1, 4)))
        names = []
        for place in range(counts[-1]):
            colour, shape = str(random.choice(list(COLOURS))), str(random.choice(SHAPES))
            names.append(f"a {colour} {shape}")
            images.append(folder / f"{number:05d}_{place}.jpg")
            draw_image(colour, shape, random).save(images[-1], quality=92)
        captions.append(" and ".join(names))
    listing = folder / "captions.txt"
    listing.write_text("\n".join(captions) + "\n")
    return Documents(images, counts, listing)
