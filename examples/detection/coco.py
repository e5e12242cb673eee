"""Write generated pictures as a data set in the format of COCO."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from .shapes import CLASSES, Scene, draw_scene

ANNOTATIONS = "annotations.json"

# Identifiers of categories need not be consecutive, and in COCO they are not.
_CATEGORIES = {name: 10 * (number + 1) for number, name in enumerate(CLASSES)}


def write_data_set(folder: Path, count: int, seed: list[int]) -> list[Scene]:
    """Draw pictures, and write them with their boxes and masks.

    Files are ``00000.jpg`` and so on, and ``annotations.json``. Files of these names are replaced,
    others are left alone.

    Parameters
    ----------
    folder : Path
        It is created if it does not exist.
    count : int
        Number of pictures.
    seed : list of int
        The same seed gives the same pictures.

    Returns
    -------
    list of Scene
        What was drawn, in the order of the files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    scenes = []
    for number in range(count):
        scene = draw_scene(np.random.default_rng([*seed, number]))
        height, width = scene.picture.shape[:2]
        name = f"{number:05d}.jpg"
        Image.fromarray(scene.picture).save(folder / name, quality=92)
        images.append({"id": number, "file_name": name, "width": width, "height": height})
        for shape in scene.shapes:
            left, top, right, bottom = shape.box()
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": number,
                    "category_id": _CATEGORIES[shape.name],
                    "bbox": [left, top, right - left, bottom - top],
                    "segmentation": shape.segmentation(height, width),
                    "iscrowd": 0,
                }
            )
        scenes.append(scene)
    categories = [{"id": number, "name": name} for name, number in _CATEGORIES.items()]
    (folder / ANNOTATIONS).write_text(
        json.dumps({"images": images, "categories": categories, "annotations": annotations})
    )
    return scenes
