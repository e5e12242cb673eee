"""Writes small data sets in the format of COCO."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.generated_images import png
from tests.video_files import draw

CATEGORIES = [{"id": 7, "name": "x"}, {"id": 3, "name": "y"}, {"id": 90, "name": "z"}]
IMAGES = [
    {"id": 20, "file_name": "b.png", "width": 40, "height": 30},
    {"id": 5, "file_name": "a.png", "width": 32, "height": 24},
    {"id": 11, "file_name": "c.png", "width": 16, "height": 16},
    {"id": 12, "file_name": "e.png", "width": 20, "height": 20},
]


def rectangle(x: float, y: float, width: float, height: float) -> list[float]:
    return [x, y, x + width, y, x + width, y + height, x, y + height]


def object_of(image: int, category: int, box: list[float], **others: Any) -> dict[str, Any]:
    return {
        "image_id": image,
        "category_id": category,
        "bbox": box,
        "iscrowd": 0,
        "segmentation": [rectangle(*box)],
        **others,
    }


ANNOTATIONS = [
    object_of(
        *(20, 90, [1.5, 2, 10, 12]),
        segmentation=[rectangle(1.5, 2, 10, 12), [12, 3, 16, 3, 16, 7]],
    ),
    object_of(5, 3, [3, 4, 20, 0.05]),
    object_of(
        *(5, 7, [0, 0, 32, 24]),
        iscrowd=1,
        segmentation={"size": [24, 32], "counts": [10, 100, 658]},
    ),
    object_of(20, 3, [20, 10, 15, 15]),
    object_of(12, 7, [2, 2, 9, 9], segmentation={"size": [20, 20], "counts": "Z19;000Z9"}),
]


def write_data_set(folder: Path, annotations: list[dict[str, Any]] = ANNOTATIONS) -> dict[str, Any]:
    """Write images and annotations; return the arguments that read them."""
    for number, image in enumerate(IMAGES):
        (folder / str(image["file_name"])).write_bytes(png(draw(number, 32, 24)))
    path = folder / "annotations.json"
    path.write_text(
        json.dumps({"images": IMAGES, "categories": CATEGORIES, "annotations": annotations})
    )
    return {"file_root": str(folder), "annotations_file": str(path)}
