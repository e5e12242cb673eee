"""`fn.readers.coco`: images with their boxes, labels and masks."""

from __future__ import annotations

import ast
import json
import math
import random
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core.errors import ArgumentTypeError, ArgumentValueError, DaliCoreError, SampleError
from tests.hanging import HANG_SECONDS
from tests.operators.readers.coco_files import ANNOTATIONS, IMAGES, object_of, write_data_set
from tests.operators.suite import Example


def example(folder: Path, **arguments: Any) -> dict[str, Any]:
    return {**write_data_set(folder), **arguments}


EXAMPLES = [
    Example("boxes", (), example),
    Example(
        "polygons",
        (),
        partial(example, polygon_masks=True, ratio=True, ltrb=True, random_shuffle=True),
    ),
    Example("pixels", (), partial(example, pixelwise_masks=True, image_ids=True)),
]


def read(count: int = 4, **arguments: Any) -> list[list[np.ndarray]]:
    """Return the samples of each output but the first."""
    with Pipeline(count, 1, None, prefetch_queue_depth=1) as pipeline:
        pipeline.set_outputs(*fn.readers.coco(name="reader", **arguments))
    try:
        batch = pipeline.run()
        return [[np.array(out.at(i)) for i in range(count)] for out in batch[1:]]
    finally:
        pipeline.close()


def test_images_come_by_their_identifiers(tmp_path: Path) -> None:
    boxes, labels, ids = read(**write_data_set(tmp_path), image_ids=True)
    assert [one.item() for one in ids] == sorted(image["id"] for image in IMAGES)
    assert [one.tolist() for one in labels] == [[1], [], [1], [3, 2]]
    np.testing.assert_array_equal(boxes[3], [[1.5, 2, 10, 12], [20, 10, 15, 15]])
    assert boxes[1].shape == (0, 4)


def test_run_lengths_are_masks(tmp_path: Path) -> None:
    annotations = [
        object_of(12, 3, [2, 1, 3, 4], segmentation={"size": [20, 20], "counts": [41, 4, 355]}),
        object_of(12, 7, [2, 1, 3, 4], segmentation={"size": [20, 20], "counts": "Y14S;"}),
    ]
    for number, label in enumerate((2, 1)):
        arguments = write_data_set(tmp_path, annotations[number : number + 1])
        (masks,) = read(**arguments, pixelwise_masks=True)[2:]
        expected = np.zeros((20, 20, 1), np.int32)
        expected[1:5, 2] = label
        np.testing.assert_array_equal(masks[2], expected, strict=True)


def test_saved_annotations_are_the_same(tmp_path: Path) -> None:
    arguments = write_data_set(tmp_path)
    saved = {
        "save_preprocessed_annotations": True,
        "save_preprocessed_annotations_dir": str(tmp_path),
    }
    for masks in ("polygon_masks", "pixelwise_masks"):
        expected = read(**arguments, **saved, **{masks: True})
        found = read(
            file_root=str(tmp_path), preprocessed_annotations=str(tmp_path), **{masks: True}
        )
        for ours, theirs in zip(found, expected, strict=True):
            for mine, other in zip(ours, theirs, strict=True):
                np.testing.assert_array_equal(mine, other, strict=True)


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"annotations_file": ""}, ArgumentTypeError, "annotations_file or preprocessed"),
        ({"annotations_file": "/none"}, ArgumentValueError, "must be a readable file"),
        ({"images": ["other.png"]}, ArgumentValueError, "at least one image to read"),
        ({"polygon_masks": True, "pixelwise_masks": True}, ArgumentTypeError, "must not both"),
        ({"preprocessed_annotations": "x"}, ArgumentTypeError, "must not come together with"),
        ({"save_preprocessed_annotations": True}, ArgumentTypeError, "Name a folder"),
    ],
)
def test_invalid_calls(
    tmp_path: Path, change: dict[str, Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        read(**{**write_data_set(tmp_path), **change})


def changed(arguments: dict[str, Any], **change: Any) -> dict[str, Any]:
    """Write the annotations again with other lists, and without those that are None."""
    path = Path(arguments["annotations_file"])
    document = json.loads(path.read_text()) | change
    path.write_text(json.dumps({name: one for name, one in document.items() if one is not None}))
    return arguments


WITHOUT_SIZES = [{"id": image["id"], "file_name": image["file_name"]} for image in IMAGES]


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"images": [{"id": 1}]}, {}, "an entry has no 'file_name': {'id': 1}"),
        ({"images": [{"file_name": "a"}]}, {}, "an entry has no 'id'"),
        ({"images": ["a.png"]}, {}, "images is no list of objects"),
        ({"categories": [{"name": "x"}]}, {}, "an entry has no 'id'"),
        ({"annotations": [{"bbox": [1, 1, 2, 2]}]}, {}, "an entry has no 'image_id'"),
        ({"images": WITHOUT_SIZES}, {"ratio": True}, "the image 5 needs a width and a height"),
        ({"images": WITHOUT_SIZES}, {"pixelwise_masks": True}, "got none of 'a.png'"),
        ({"images": None}, {}, "at least one image to read"),
        ({"images": [{**IMAGES[0], "width": 0}]}, {}, "an image of 0 x 30"),
    ],
)
def test_invalid_annotations_raise(
    tmp_path: Path, change: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    arguments = changed(write_data_set(tmp_path), **change)
    with pytest.raises(ArgumentValueError, match=message) as caught:
        read(**arguments, **options)
    assert "KeyError" not in str(caught.value)


def test_an_object_without_a_category_has_the_label_0(tmp_path: Path) -> None:
    first = {name: value for name, value in ANNOTATIONS[0].items() if name != "category_id"}
    arguments = write_data_set(tmp_path, [first, *ANNOTATIONS[1:]])
    assert [one.tolist() for one in read(**arguments)[1]] == [[1], [], [1], [0, 2]]


def test_saved_annotations_of_images_without_sizes(tmp_path: Path) -> None:
    arguments = changed(write_data_set(tmp_path), images=WITHOUT_SIZES)
    saved = {
        "save_preprocessed_annotations": True,
        "save_preprocessed_annotations_dir": str(tmp_path),
    }
    expected = read(**arguments, **saved, polygon_masks=True)
    again = {"file_root": str(tmp_path), "preprocessed_annotations": str(tmp_path)}
    found = read(**again, polygon_masks=True)
    for ours, theirs in zip(found, expected, strict=True):
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(mine, other, strict=True)
    with pytest.raises(ArgumentValueError, match="the width and height of each image"):
        read(**again, pixelwise_masks=True)


def test_missing_images_are_bad_samples(tmp_path: Path) -> None:
    arguments = write_data_set(tmp_path)
    (tmp_path / "e.png").unlink()
    with pytest.raises(SampleError, match=r"e\.png"):
        read(**arguments)


@pytest.mark.parametrize(
    "segmentation",
    [
        [[1, 2, 3]],
        [[0, 0, math.nan, 5, 5, 5]],
        [[0, 0, math.inf, 5, 5, 5]],
        [[0, 0, 5, 1e300, 5, 5]],
        [["a", "b"]],
        {"size": [1, 1], "counts": [1]},
        {"size": [20, 20], "counts": [401]},
        {"size": [20, 20], "counts": [-1, 401]},
        {"size": [20, 20], "counts": "\x7f"},
        {"size": [20, 20], "counts": "o" * 40},
        {"size": [20, 20]},
    ],
)
def test_masks_that_are_none(tmp_path: Path, segmentation: Any) -> None:
    arguments = write_data_set(
        tmp_path, [object_of(12, 3, [2, 1, 3, 4], segmentation=segmentation)]
    )
    with pytest.raises(ArgumentValueError, match="must have images, categories and annotations"):
        read(**arguments, pixelwise_masks=True)


def test_polygons_may_exceed_the_image(tmp_path: Path) -> None:
    far = 1e30
    around = [[-far, -far, far, -far, far, far, -far, far]]
    beside = [[-far, -far, -1, -far, -1, far, -far, far]]
    annotations = [
        object_of(12, 3, [2, 1, 3, 4], segmentation=around),
        object_of(5, 3, [2, 1, 3, 4], segmentation=beside),
    ]
    masks = read(**write_data_set(tmp_path, annotations), pixelwise_masks=True)[-1]
    assert [(mask.shape, int(mask.min()), int(mask.max())) for mask in (masks[0], masks[2])] == [
        ((24, 32, 1), 0, 0),
        ((20, 20, 1), 2, 2),
    ]


def test_damaged_annotations_are_rejected_or_read(tmp_path: Path) -> None:
    arguments = write_data_set(tmp_path, ANNOTATIONS)
    text = Path(arguments["annotations_file"]).read_text()
    chance = random.Random(1)
    num_refused = 0
    for _ in range(150):
        letters = list(text)
        for _ in range(chance.randrange(1, 4)):
            letters[chance.randrange(len(letters))] = chance.choice('0129-{}[],:"x.e')
        Path(arguments["annotations_file"]).write_text("".join(letters))
        try:
            read(1, **arguments, polygon_masks=True)
        except DaliCoreError:
            num_refused += 1
    assert 0 < num_refused < 150
    for value in (None, 1, [], {"images": 1}, {"images": [[]], "categories": []}):
        Path(arguments["annotations_file"]).write_text(json.dumps(value))
        with pytest.raises(ArgumentValueError):
            read(**arguments)


def test_damaged_annotations_are_errors_or_belong_together() -> None:
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.mutated_annotations", "0", "300"]
    result = subprocess.run(
        command,
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-4000:]
    counts = ast.literal_eval(result.stdout)
    assert counts["error"] > 50
    assert counts["samples"] > 20
