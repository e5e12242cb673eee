"""`fn.readers.coco` reads what NVIDIA DALI reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
from tests.conformance.comparing import reference
from tests.operators.readers.coco_files import ANNOTATIONS, CATEGORIES, IMAGES, write_data_set


def read(library: Any, count: int, **arguments: Any) -> tuple[Any, ...]:
    """Return the size of an epoch, the kinds of outputs, sources, and samples."""
    pipeline = library.Pipeline(count, 1, None)
    with pipeline:
        pipeline.set_outputs(*library.fn.readers.coco(name="reader", **arguments))
    pipeline.build()
    size = pipeline.epoch_size("reader")
    batch = pipeline.run()
    sources = [batch[0][i].source_info() for i in range(count)]
    samples = [[np.array(out.at(i)) for i in range(count)] for out in batch]
    return size, [(out.layout(), out.dtype.name) for out in batch], sources, samples


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"image_ids": True},
        {"save_img_ids": True},
        {"ratio": True},
        {"ltrb": True},
        {"ltrb": True, "ratio": True},
        {"avoid_class_remapping": True},
        {"skip_empty": True},
        {"include_iscrowd": False},
        {"size_threshold": 11.0},
        {"size_threshold": 0.0},
        {"polygon_masks": True},
        {"polygon_masks": True, "ratio": True, "image_ids": True},
        {"masks": True},
        {"pixelwise_masks": True, "ratio": True, "avoid_class_remapping": True},
        {"images": ["e.png", "b.png", "e.png"]},
        {"num_shards": 2, "shard_id": 1, "pad_last_batch": True},
        {"lazy_init": True, "dont_use_mmap": True},
    ],
)
def test_samples(tmp_path: Path, arguments: dict[str, Any]) -> None:
    files = write_data_set(tmp_path)
    ours, theirs = (read(library, 5, **files, **arguments) for library in (dali_core, reference))
    assert ours[:3] == theirs[:3]
    for mine, others in zip(ours[3], theirs[3], strict=True):
        for sample, expected in zip(mine, others, strict=True):
            np.testing.assert_array_equal(sample, expected, strict=True)


@pytest.mark.parametrize(
    "arguments",
    [
        {"images": ["other.png"]},
        {"polygon_masks": True, "pixelwise_masks": True},
        {"annotations_file": "/none"},
        {"annotations_file": ""},
    ],
)
def test_invalid_arguments_raise_in_both(tmp_path: Path, arguments: dict[str, Any]) -> None:
    for library in (dali_core, reference):
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            read(library, 1, **{**write_data_set(tmp_path), **arguments})


def without(entries: list[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    return [{key: one for key, one in entry.items() if key not in names} for entry in entries]


UNLISTED = [{**ANNOTATIONS[0], "category_id": 55}, *ANNOTATIONS[1:]]
CAPTIONS = [{"image_id": 20, "id": 1, "caption": "x"}, {"image_id": 5, "id": 2, "caption": "y"}]


@pytest.mark.parametrize("options", [{}, {"avoid_class_remapping": True}, {"image_ids": True}])
@pytest.mark.parametrize(
    "change",
    [
        {"annotations": None},
        {"annotations": []},
        {"categories": None},
        {"categories": []},
        {"categories": None, "annotations": None},
        {"categories": [CATEGORIES[0], CATEGORIES[0], *CATEGORIES[1:]]},
        {"images": without(IMAGES, "width", "height")},
        {"images": without(IMAGES, "height")},
        {"annotations": UNLISTED},
        {"annotations": without(ANNOTATIONS, "bbox")},
        {"annotations": without(ANNOTATIONS, "iscrowd", "segmentation")},
        {"annotations": CAPTIONS, "categories": None},
        {"info": {"year": 2017}, "licenses": [{"id": 1, "url": None}]},
    ],
    ids=lambda change: ", ".join(f"{name} {one!s:.40}" for name, one in change.items()),
)
def test_incomplete_documents(
    tmp_path: Path, change: dict[str, Any], options: dict[str, Any]
) -> None:
    files = write_data_set(tmp_path)
    path = Path(files["annotations_file"])
    document = json.loads(path.read_text()) | change
    path.write_text(json.dumps({name: one for name, one in document.items() if one is not None}))
    for more in ({}, {"polygon_masks": True}, {"images": ["x.png", "b.png", "a.png", "y.png"]}):
        count = 2 if "images" in more else 4
        ours, theirs = (
            read(library, count, **files, **options, **more) for library in (dali_core, reference)
        )
        assert ours[:3] == theirs[:3]
        for mine, others in zip(ours[3], theirs[3], strict=True):
            for sample, expected in zip(mine, others, strict=True):
                np.testing.assert_array_equal(sample, expected, strict=True)


MASKS: list[dict[str, Any]] = [
    {},
    {"polygon_masks": True},
    {"pixelwise_masks": True},
    {"pixelwise_masks": True, "image_ids": True},
]
DECIDED_WHEN_SAVED: list[dict[str, Any]] = [
    {},
    {"ltrb": True, "avoid_class_remapping": True},
    {"ratio": True, "skip_empty": True},
    {"images": ["e.png", "b.png", "e.png"], "include_iscrowd": False},
]


@pytest.mark.parametrize("masks", MASKS, ids=str)
@pytest.mark.parametrize("decided", DECIDED_WHEN_SAVED, ids=str)
def test_saved_annotations(tmp_path: Path, masks: dict[str, Any], decided: dict[str, Any]) -> None:
    files = write_data_set(tmp_path)
    for library in (reference, dali_core):
        folder = tmp_path / library.__name__
        folder.mkdir()
        saved = {
            "save_preprocessed_annotations": True,
            "save_preprocessed_annotations_dir": str(folder),
        }
        read(library, 1, **files, **masks, **decided, **saved)
    theirs, ours = (tmp_path / library.__name__ for library in (reference, dali_core))
    for path in theirs.iterdir():
        assert (ours / path.name).read_bytes() == path.read_bytes(), path.name
    for folder in (theirs, ours):
        arguments = {"file_root": str(tmp_path), "preprocessed_annotations": str(folder), **masks}
        results = [read(library, 4, **arguments) for library in (reference, dali_core)]
        assert results[0][:3] == results[1][:3]
        for expected, found in zip(*(result[3] for result in results), strict=True):
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(one, other, strict=True)
