"""The detection example writes shapes, trains a detector that finds them, and draws samples."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("torch", reason="not available: PyTorch")
pytest.importorskip("matplotlib", reason="not available: Matplotlib")

import torch

from examples.detection.__main__ import read_arguments
from examples.detection.coco import ANNOTATIONS, write_data_set
from examples.detection.dataloading import (
    held_out_pipeline,
    sample_pipeline,
    training_pipeline,
)
from examples.detection.measure import iou, select
from examples.detection.model import SIDE, decode, detection_loss, make_anchors
from examples.detection.shapes import CLASSES, Scene
from examples.shared.loader import Loader

ROOT = Path(__file__).parents[2]
OPTIONS: dict[str, Any] = {"num_threads": 1, "device_id": None, "seed": 5}


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "examples.detection", *map(str, arguments)]
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def expected_boxes(scene: Scene) -> np.ndarray:
    height, width = scene.picture.shape[:2]
    boxes = np.array([shape.box() for shape in scene.shapes])
    relative: np.ndarray = boxes / np.array([width, height, width, height])
    return relative


def expected_labels(scene: Scene) -> list[int]:
    return [CLASSES.index(shape.name) + 1 for shape in scene.shapes]


def test_from_shapes_to_recall(tmp_path: Path) -> None:
    short = ["--pictures=64", "--held-out=40", "--epochs=6", "--batch-size=8", "--threads=1"]
    done = run("--work", tmp_path, *short)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert re.fullmatch(r"64 pictures of \d+ shapes to train on, 40 held out", lines[0])
    assert re.fullmatch(r"training: \d+ pictures/s", lines[2])
    losses = re.fullmatch(r"loss: (\S+) in the first epoch, (\S+) in the last", lines[3])
    assert losses is not None, lines
    first, last = map(float, losses.groups())
    assert 0 < last < 0.7 * first
    found = re.fullmatch(
        r"recall of 5 boxes at IoU 0.5: (\S+)% before training, (\S+)% after", lines[4]
    )
    assert found is not None, lines
    before, after = map(float, found.groups())
    assert 0 <= before < after <= 100
    assert "training: 100%" in done.stderr
    assert "48/48" in done.stderr
    for folder, count in (("train", 64), ("held_out", 40)):
        files = {path.name for path in (tmp_path / "shapes" / folder).iterdir()}
        assert files == {f"{number:05d}.jpg" for number in range(count)} | {ANNOTATIONS}
    with Image.open(tmp_path / "detection.png") as picture:
        assert min(picture.size) > 700


def test_boxes_are_those_of_the_shapes(tmp_path: Path) -> None:
    scenes = write_data_set(tmp_path, 10, [1])
    assert {shape.name for scene in scenes for shape in scene.shapes} == set(CLASSES)
    pipeline = held_out_pipeline(tmp_path, batch_size=4, **OPTIONS)
    batches = list(Loader(pipeline, ["images", "boxes", "labels"]))
    assert [tuple(batch["images"].shape) for batch in batches] == [
        (count, 3, SIDE, SIDE) for count in (4, 4, 2)
    ]
    boxes = [row for batch in batches for row in batch["boxes"].numpy()]
    labels = [row for batch in batches for row in batch["labels"].numpy()]
    for scene, found, names in zip(scenes, boxes, labels, strict=True):
        assert names[names > 0].tolist() == expected_labels(scene)
        np.testing.assert_allclose(found[names > 0], expected_boxes(scene), atol=1e-6)


def test_boxes_fit_the_shapes_after_augmentation(tmp_path: Path) -> None:
    """Masks are cut and mirrored separately, and so are the images."""
    count = 24
    scenes = write_data_set(tmp_path, count, [2])
    outputs = sample_pipeline(tmp_path, batch_size=count, **OPTIONS).run()
    samples = [[np.array(output.at(i)) for output in outputs] for i in range(count)]
    whole = cut = 0
    for scene, sample in zip(scenes, samples, strict=True):
        before, boxes_before, labels_before, _, image, boxes, labels, mask = sample
        assert before.shape == scene.picture.shape
        assert labels_before.tolist() == expected_labels(scene)
        np.testing.assert_allclose(boxes_before, expected_boxes(scene), atol=1e-6)
        assert image.shape == (SIDE, SIDE, 3)
        assert mask.shape == (SIDE, SIDE, 1)
        assert 1 <= len(boxes) == len(labels) <= len(scene.shapes)
        for box, label in zip(boxes, labels, strict=True):
            # Boxes of the example are not near to each other, so there is one shape in here.
            left, top, right, bottom = np.round(box * SIDE).astype(int)
            rows = slice(max(top - 2, 0), bottom + 2)
            columns = slice(max(left - 2, 0), right + 2)
            inside = mask[rows, columns, 0] == label
            y, x = np.nonzero(inside)
            extent = [x.min(), y.min(), x.max() + 1, y.max() + 1]
            extent_in_image = np.add(extent, [columns.start, rows.start] * 2)
            # What is left of a shape that is cut off may be narrower than its box.
            if box.min() > 0.01 and box.max() < 0.99:
                np.testing.assert_allclose(extent_in_image, box * SIDE, atol=2)
                whole += 1
            else:
                assert (extent_in_image[:2] >= box[:2] * SIDE - 2).all()
                assert (extent_in_image[2:] <= box[2:] * SIDE + 2).all()
                cut += 1
            colours = image[rows, columns][_shrunk(inside)]
            assert len(colours) > 0
            assert colours.std(axis=0).max() < 15
    assert whole > count
    assert cut > 0


def _shrunk(mask: np.ndarray) -> np.ndarray:
    """Return a mask without the pixels near its border, which are blended with others."""
    for _ in range(2):
        around = np.pad(mask, 1, constant_values=False)
        mask = around[1:-1, 1:-1] & around[:-2, 1:-1] & around[2:, 1:-1]
        mask &= around[1:-1, :-2] & around[1:-1, 2:]
    return mask


def test_training_targets_decode_to_boxes(tmp_path: Path) -> None:
    write_data_set(tmp_path, 6, [3])
    anchors = make_anchors()
    pipeline = training_pipeline(tmp_path, anchors.flatten().tolist(), 1, batch_size=6, **OPTIONS)
    (batch,) = Loader(pipeline, ["images", "deltas", "classes"])
    has_box = batch["classes"] > 0
    assert has_box.any(1).all()
    assert (batch["deltas"][~has_box] == 0).all()
    boxes = decode(batch["deltas"], anchors)[has_box]
    assert boxes.min() > -1e-4
    assert boxes.max() < 1 + 1e-4
    assert (boxes[:, :2] < boxes[:, 2:]).all()
    # A network that predicts just that has no loss.
    scores = 50 * torch.nn.functional.one_hot(batch["classes"].long(), 1 + len(CLASSES))
    perfect = detection_loss(
        batch["deltas"], scores.float(), batch["deltas"], batch["classes"].long()
    )
    assert float(perfect) == pytest.approx(0, abs=1e-4)


def test_boxes_that_overlap_a_better_one_are_dropped() -> None:
    boxes = torch.tensor([[0, 0, 0.4, 0.4], [0, 0, 0.5, 0.4], [0.5, 0.5, 0.9, 1.0]])
    np.testing.assert_allclose(iou(boxes[:1], boxes), [[1, 0.8, 0]], rtol=1e-6)
    scores = torch.tensor([[0.0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 0.5]])
    found = select(boxes, scores)
    assert found.labels.tolist() == [2, 3]
    torch.testing.assert_close(found.boxes, boxes[1:])


def test_unrelated_files_are_not_modified(tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").write_bytes(b"precious")
    write_data_set(tmp_path, 2, [1])
    write_data_set(tmp_path, 1, [1])
    assert (tmp_path / "holiday.jpg").read_bytes() == b"precious"
    described = json.loads((tmp_path / ANNOTATIONS).read_text())
    assert [image["file_name"] for image in described["images"]] == ["00000.jpg"]


def test_invalid_options(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["detection", "--pictures=4"])
    with pytest.raises(SystemExit, match="2"):
        read_arguments()
    assert "--pictures: must be at least 5 (got 4)" in capsys.readouterr().err
