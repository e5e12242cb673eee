"""Draw a data set of photo-like JPEG files.

    python -m examples.photos                # to work/photos
    python -m examples.photos FOLDER

``photos.png``, beside the folder, shows some of each class.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from examples.shared import sample_grid

from .dataset import CLASSES, TRAIN, generate

_SIDE, _COLUMNS = 96, 8


def draw(folder: Path, picture: Path) -> None:
    """Draw the first photos of each class, upright, cut to squares."""
    rows = []
    classes = sorted(path.name for path in (folder / TRAIN).iterdir())
    for name in classes:
        row = np.full((_COLUMNS, _SIDE, _SIDE, 3), 255, np.uint8)
        for place, path in zip(row, sorted((folder / TRAIN / name).iterdir()), strict=False):
            with Image.open(path) as photo:
                upright = ImageOps.exif_transpose(photo).convert("RGB")
                place[:] = ImageOps.fit(upright, (_SIDE, _SIDE))
        rows.append(row)
    sample_grid.draw(np.concatenate(rows), classes, picture)


def main() -> None:
    """Read the command line and draw the data set."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.photos", description="Draw a data set of photo-like JPEG files."
    )
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=Path("work/photos"),
        help="where the data set goes (%(default)s)",
    )
    parser.add_argument("--classes", nargs="+", default=CLASSES, choices=CLASSES, metavar="CLASS")
    parser.add_argument(
        "--per-class", type=int, default=200, help="files of each class (%(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    folder = generate(arguments.folder, arguments.classes, arguments.per_class, arguments.seed)
    print(f"{sum(1 for _ in folder.glob('*/*/*.jpg'))} photos in {folder}")
    picture = folder.with_suffix(".png")
    draw(folder, picture)
    print(f"picture: {picture}")


if __name__ == "__main__":
    main()
