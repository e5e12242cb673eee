"""The robot example writes a LeRobot data set, learns from it, and draws a picture."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("av", reason="not available: PyAV")
pytest.importorskip("pyarrow", reason="not available: pyarrow")
pytest.importorskip("torch", reason="not available: PyTorch")

from examples.robot_policy.dataset import generate
from examples.robot_policy.policy import CHUNK, batches
from examples.robot_policy.scene import SIDE, expert, move, start

ROOT = Path(__file__).parents[2]


def test_from_demonstrations_to_a_picture(tmp_path: Path) -> None:
    numbers = ["--episodes=10", "--epochs=6", "--batch-size=16"]
    done = subprocess.run(
        [sys.executable, "-m", "examples.robot_policy", "--work", tmp_path, *numbers],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, _, last = done.stdout.splitlines()
    found = re.fullmatch(r"loss: (\S+) in the first epoch, (\S+) in the last one", first)
    assert found is not None, first
    assert float(found[2]) < 0.9 * float(found[1])
    assert re.fullmatch(r"cubes reached: \d+ of 30 untrained, \d+ of 30 trained", last)
    with Image.open(tmp_path / "robot_policy.png") as picture:
        assert min(picture.size) > 600


def test_batches_have_the_actions_of_the_teacher(tmp_path: Path) -> None:
    folder = generate(tmp_path / "robot", 2, seed=1)
    assert json.loads((folder / "meta/info.json").read_text())["total_frames"] == 60
    found = list(batches(folder, 16, threads=1, seed=1))
    assert [len(batch["state"]) for (batch,) in found] == [16, 16, 16, 12]
    batch = found[0][0]
    assert tuple(batch["top"].shape) == (16, 1, 3, SIDE, SIDE)
    assert tuple(batch["action"].shape) == (16, CHUNK, 3)
    assert float(batch["side"].abs().max()) <= 1
    assert sum(int(batch["is_pad"].sum()) for (batch,) in found) == 2 * (1 + 2 + 3)


def test_the_teacher_reaches_the_cube() -> None:
    for seed in range(5):
        gripper, cube = start(np.random.default_rng(seed))
        for _ in range(30):
            gripper = move(gripper, expert(gripper, cube))
        assert np.linalg.norm(gripper - cube) < 1e-3
