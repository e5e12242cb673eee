"""Write a data set of generated photos: classes of files for training and validation."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from .camera import take
from .files import draw_size, draw_storage, save
from .objects import bokeh, flowers, marbles
from .patterns import bricks, dunes, pebbles, wood
from .surfaces import Scene
from .views import clouds, mountains, towers

SCENES: dict[str, Scene] = {
    scene.__name__: scene
    for scene in (bokeh, bricks, clouds, dunes, flowers, marbles, mountains, pebbles, towers, wood)
}
CLASSES = tuple(SCENES)

TRAIN = "train"
HELD_OUT = "val"

_HELD_OUT_SHARE = 5
_FINISHED = "finished.json"
# Part of the marker: increment it when the pictures change, so that existing sets are replaced.
_VERSION = 1


def generate(
    folder: str | os.PathLike[str],
    classes: Sequence[str] = CLASSES,
    per_class: int = 200,
    seed: int = 0,
    num_threads: int | None = None,
) -> Path:
    """Generate a data set of photo-like JPEG files, unless it exists already.

    The files are ``train/<class>/<number>.jpg`` and, every fifth, ``val/<class>/<number>.jpg``. The
    set is written next to ``folder`` and renamed when it is complete, so an interrupted run leaves
    no incomplete set under that name.

    Parameters
    ----------
    folder : path
        The destination. A set that this function wrote earlier with other arguments is replaced.
    classes : sequence of str
        Which of ``CLASSES`` to draw.
    per_class : int
        Number of files of each class, training and held out together.
    seed : int
        The same seed generates the same files. A file depends on the seed, its class and its number
        only.
    num_threads : int, optional
        Number of threads; by default one per processor.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ValueError
        If a class is unknown, or ``per_class`` is not positive.
    FileExistsError
        If the folder contains something that this function did not write.
    """
    unknown = sorted(set(classes) - set(CLASSES))
    if unknown:
        raise ValueError(
            f"photos.generate: classes must be among {', '.join(CLASSES)} "
            f"(got {', '.join(unknown)})."
        )
    if per_class < 1:
        raise ValueError(f"photos.generate: per_class must be positive (got {per_class}).")
    folder = Path(folder)
    description = {
        "version": _VERSION,
        "classes": sorted(classes),
        "per_class": per_class,
        "seed": seed,
    }
    if _is_finished(folder, description):
        return folder

    unfinished = folder.with_name(f"{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    for name in classes:
        (unfinished / TRAIN / name).mkdir(parents=True)
        (unfinished / HELD_OUT / name).mkdir(parents=True)
    tasks = [(name, number) for name in classes for number in range(per_class)]
    # NumPy and Pillow release the GIL in the loops that matter, and threads start at once.
    with ThreadPoolExecutor(num_threads or os.cpu_count()) as pool:
        list(pool.map(lambda task: _write_photo(unfinished, seed, *task), tasks))
    (unfinished / _FINISHED).write_text(json.dumps(description, indent=2) + "\n")
    if folder.exists():
        shutil.rmtree(folder)
    unfinished.rename(folder)
    return folder


def _is_finished(folder: Path, description: dict[str, object]) -> bool:
    """Return whether the folder contains exactly this data set; raise if it contains more."""
    if not folder.exists() or not any(folder.iterdir()):
        return False
    marker = folder / _FINISHED
    if not marker.is_file():
        raise FileExistsError(
            "photos.generate: the folder must be new or hold generated photos "
            f"(got {folder}, which has other files in it). Choose another folder."
        )
    return bool(json.loads(marker.read_text()) == description)


def _write_photo(folder: Path, seed: int, name: str, number: int) -> None:
    random = np.random.default_rng([seed, CLASSES.index(name), number])
    height, width = draw_size(random)
    storage = draw_storage(random)
    if (name, number) == (CLASSES[0], 0):
        # A single CMYK file, as in many scraped data sets.
        storage = replace(storage, mode="CMYK", orientation=0)
    elif number in range(1, 9):
        # Every value of the tag occurs, however small the set.
        storage = replace(storage, orientation=number)
    upright = take(random, SCENES[name](random, height, width))
    part = HELD_OUT if number % _HELD_OUT_SHARE == _HELD_OUT_SHARE - 1 else TRAIN
    save(folder / part / name / f"{number:04d}.jpg", upright, storage)
