"""The demo runs, and writes an accuracy and two pictures."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

from examples.photos import generate

pytest.importorskip("torch", reason="not available: PyTorch")

ROOT = Path(__file__).parents[2]
PROGRAM = ["-m", "examples.train_classifier"]


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *PROGRAM, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_from_photos_to_accuracy(tmp_path: Path) -> None:
    data = generate(tmp_path / "data", ["dunes", "marbles"], per_class=20, seed=1)
    work = tmp_path / "work"
    done = run("--data", data, "--work", work, "--epochs", 2, "--batch-size", 7)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "32 photos to train on, 8 held out, 2 classes"
    assert re.fullmatch(r"training: \d+ images/s", lines[1])
    assert re.fullmatch(r"accuracy: \d+\.\d %", lines[-1])
    with Image.open(work / "train_classifier.png") as picture:
        assert min(picture.size) > 100
    graph = ElementTree.parse(work / "train_classifier.svg").getroot()
    assert "crop_mirror_normalize" in "".join(graph.itertext())


def test_folder_without_photos(tmp_path: Path) -> None:
    done = run("--data", tmp_path, "--work", tmp_path / "work")
    assert done.returncode == 1
    assert "must have a folder of photos for each class" in done.stderr
    assert "Traceback" not in done.stderr


def test_invalid_option(tmp_path: Path) -> None:
    done = run("--work", tmp_path, "--epochs", 0)
    assert done.returncode == 2
    assert "--epochs: must be at least 1 (got 0)" in done.stderr
