"""Draw a data set from the command line: ``python -m examples.photos FOLDER``."""

from __future__ import annotations

import argparse

from .dataset import CLASSES, generate


def main() -> None:
    """Read the command line and draw the data set."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.photos", description="Draw a data set of photo-like JPEG files."
    )
    parser.add_argument("folder", help="where the data set goes")
    parser.add_argument("--classes", nargs="+", default=CLASSES, choices=CLASSES, metavar="CLASS")
    parser.add_argument(
        "--per-class", type=int, default=200, help="files of each class (%(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    folder = generate(arguments.folder, arguments.classes, arguments.per_class, arguments.seed)
    print(f"{sum(1 for _ in folder.glob('*/*/*.jpg'))} photos in {folder}")


if __name__ == "__main__":
    main()
