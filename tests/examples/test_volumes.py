"""The example of volumes writes organs, trains a network that finds them, and draws samples."""

from __future__ import annotations

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

from examples.shared.loader import Loader
from examples.volumes.dataloading import PATCH, held_out_pipeline, training_pipeline
from examples.volumes.model import UNet, loss_of, overlaps
from examples.volumes.organs import ORGANS, SHAPE, make_volume, write_data_set

ROOT = Path(__file__).parents[2]
OPTIONS: dict[str, Any] = {"num_threads": 1, "device_id": None, "seed": 5}
OUTPUTS = ["image", "labels"]


def test_from_organs_to_overlap(tmp_path: Path) -> None:
    short = ["--volumes=12", "--held-out=3", "--epochs=6", "--batch-size=3", "--threads=1"]
    done = subprocess.run(
        [sys.executable, "-m", "examples.volumes", "--work", str(tmp_path), *short],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "12 volumes to train on, 3 held out"
    losses = re.fullmatch(r"loss: (\S+) in the first epoch, (\S+) in the last", lines[2])
    assert losses is not None, lines
    first, last = map(float, losses.groups())
    assert 0 < last < 0.8 * first
    for organ, line in zip(ORGANS, lines[3:], strict=False):
        found = re.fullmatch(rf"overlap of {organ}: (\S+)% before training, (\S+)% after", line)
        assert found is not None, lines
        assert 0 <= float(found[1]) <= 100
        assert 0 <= float(found[2]) <= 100
    assert "24/24" in done.stderr
    with Image.open(tmp_path / "volumes.png") as picture:
        assert min(picture.size) > 700


def test_volumes_and_labels_are_those_that_were_written(tmp_path: Path) -> None:
    write_data_set(tmp_path, 4, [1])
    loader = Loader(held_out_pipeline(tmp_path, batch_size=3, **OPTIONS), OUTPUTS)
    batches = list(loader)
    assert [len(batch["image"]) for batch in batches] == [3, 1]
    images = torch.cat([batch["image"] for batch in batches]).numpy()
    labels = torch.cat([batch["labels"] for batch in batches]).numpy()
    for number in range(4):
        image, wanted = make_volume(np.random.default_rng([1, number]))
        assert image.shape == SHAPE
        np.testing.assert_array_equal(labels[number, ..., 0], wanted)
        np.testing.assert_allclose(images[number, 0], np.clip(image / 250, -1, 1), atol=1e-6)


def test_patches_have_organs_and_their_labels(tmp_path: Path) -> None:
    write_data_set(tmp_path, 5, [2])
    loader = Loader(training_pipeline(tmp_path, 0, 1.0, batch_size=5, **OPTIONS), OUTPUTS)
    bright, dark = [], []
    for _ in range(4):
        (batch,) = list(loader)
        assert batch["image"].shape == (5, 1, PATCH, PATCH, PATCH)
        labels = batch["labels"][..., 0]
        assert all((one > 0).any() for one in labels)
        bright.append(batch["image"][:, 0][labels == 2])
        dark.append(batch["image"][:, 0][labels == 0])
    # Image and labels are cut, turned and mirrored alike: kidneys are at 150, the rest is below.
    assert abs(torch.cat(bright).mean() * 250 - 150) < 25
    assert torch.cat(dark).mean() * 250 < 40


def test_loss_and_overlap_of_the_truth(tmp_path: Path) -> None:
    write_data_set(tmp_path, 2, [3])
    loader = Loader(held_out_pipeline(tmp_path, batch_size=2, **OPTIONS), OUTPUTS)
    (batch,) = list(loader)
    labels = batch["labels"][..., 0].long()
    scores = 50.0 * torch.nn.functional.one_hot(labels, 3).movedim(-1, 1)
    assert loss_of(scores, labels) < 1e-3
    assert loss_of(scores.roll(1, 1), labels) > 1

    class Truth(UNet):
        def forward(self, image: torch.Tensor) -> torch.Tensor:
            return scores

    assert overlaps(Truth(), loader) == [1.0, 1.0]
