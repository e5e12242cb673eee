"""Find photos in class folders, and split them into training and validation."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SUFFIXES = frozenset({".bmp", ".jp2", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp"})

_TRAIN, _HELD_OUT = "train", "val"
_HELD_OUT_SHARE = 0.2


class ClassFolderError(ValueError):
    """A folder does not contain what training needs; the message states what is missing."""


@dataclass(frozen=True)
class Photos:
    """Files and their class indices, in the same order."""

    files: list[str]
    labels: list[int]

    def __len__(self) -> int:
        return len(self.files)


@dataclass(frozen=True)
class Split:
    """A data set: names of its classes, photos for training, held-out photos."""

    classes: list[str]
    train: Photos
    held_out: Photos


def find(folder: Path) -> Split:
    """Find the photos of a data set.

    Parameters
    ----------
    folder : Path
        Either it has the folders ``train`` and ``val`` with one folder per class in each, or it
        contains the class folders itself; then about a fifth of the files of each class is held
        out, selected by their names, so the split is the same in every run and on every machine.

    Returns
    -------
    Split

    Raises
    ------
    ClassFolderError
        If the folder is missing, or there are not enough photos to train on or to hold out.
    """
    if not folder.is_dir():
        raise ClassFolderError(
            f"{folder}: must be a folder with a folder of photos for each class (got no folder). "
            "Check the path."
        )
    if (folder / _TRAIN).is_dir() and (folder / _HELD_OUT).is_dir():
        train, held_out = _files_by_class(folder / _TRAIN), _files_by_class(folder / _HELD_OUT)
    else:
        train, held_out = _split(_files_by_class(folder))
    unknown = sorted(set(held_out) - set(train))
    if unknown:
        raise ClassFolderError(
            f"{folder / _HELD_OUT}: its classes must be those of {folder / _TRAIN} "
            f"(got {', '.join(unknown)} too). Rename or remove these folders."
        )
    if not any(held_out.values()):
        raise ClassFolderError(
            f"{folder}: at least one class must have two photos, to hold one out "
            f"(got {len(train)} classes of one photo). Add photos."
        )
    classes = sorted(train)
    return Split(classes, _flatten(train, classes), _flatten(held_out, classes))


def _files_by_class(folder: Path) -> dict[str, list[Path]]:
    """Return the photos of each class folder, sorted; classes without photos are skipped."""
    found = {
        child.name: sorted(path for path in child.rglob("*") if path.suffix.lower() in SUFFIXES)
        for child in folder.iterdir()
        if child.is_dir()
    }
    found = {name: files for name, files in found.items() if files}
    if not found:
        raise ClassFolderError(
            f"{folder}: must have a folder of photos for each class (found no files that end in "
            f"{', '.join(sorted(SUFFIXES))} one level down). "
            "Put each class into a folder of its name."
        )
    return found


def _split(found: dict[str, list[Path]]) -> tuple[dict[str, list[Path]], dict[str, list[Path]]]:
    train, held_out = {}, {}
    for name, files in found.items():
        # The order of the digests of names is pseudo-random, and the same everywhere.
        shuffled = sorted(files, key=lambda path: hashlib.sha256(path.name.encode()).digest())
        count = max(1, round(len(files) * _HELD_OUT_SHARE)) if len(files) > 1 else 0
        held_out[name], train[name] = sorted(shuffled[:count]), sorted(shuffled[count:])
    return train, held_out


def _flatten(by_class: dict[str, list[Path]], classes: Sequence[str]) -> Photos:
    pairs = [
        (str(path), label) for label, name in enumerate(classes) for path in by_class.get(name, ())
    ]
    return Photos([file for file, _ in pairs], [label for _, label in pairs])
