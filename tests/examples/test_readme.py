"""The program in README.md runs unmodified, and the state of its loader is as claimed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from examples.photos import generate

pytest.importorskip("torch", reason="not available: PyTorch")

README = Path(__file__).parents[2] / "README.md"


def run_first_program(root: Path, monkeypatch: pytest.MonkeyPatch, per_class: int) -> Any:
    """Run it on generated photos, and return its variables."""
    return run_program(0, root, monkeypatch, per_class)


def run_program(
    number: int, root: Path, monkeypatch: pytest.MonkeyPatch, per_class: int
) -> dict[str, Any]:
    generate(root / "photos", ["towers", "wood"], per_class=per_class)
    monkeypatch.chdir(root)
    program = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)[number]
    names: dict[str, Any] = {}
    exec(compile(program, str(README), "exec"), names)
    return names


def test_first_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = run_first_program(tmp_path, monkeypatch, per_class=5)
    images, labels = names["images"], names["labels"]
    assert tuple(images.shape) == (8, 3, 224, 224)
    assert sorted(labels.tolist()) == [0] * 4 + [1] * 4
    assert abs(float(images.mean())) < 1


def test_loop_of_plain_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = run_program(1, tmp_path, monkeypatch, per_class=5)
    images, labels = names["images"], names["labels"]
    assert tuple(images.shape) == (64, 224, 224, 3)
    assert labels.torch().flatten().bincount().tolist() == [32, 32]


def test_every_epoch_has_every_photo_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loader = run_first_program(tmp_path, monkeypatch, per_class=50)["loader"]
    orders = []
    for _ in range(3):
        batches = [labels.tolist() for _, labels in loader]
        assert [len(labels) for labels in batches] == [64, 16]
        orders.append([label for batch in batches for label in batch])
        assert sorted(orders[-1]) == [0] * 40 + [1] * 40
    assert orders[0] != orders[1] != orders[2]


def test_size_of_its_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    for per_class in (5, 50):
        folder = tmp_path / str(per_class)
        folder.mkdir()
        loader = run_first_program(folder, monkeypatch, per_class)["loader"]
        sizes.append(len(json.dumps(loader.state_dict())))
        for _ in loader:
            sizes.append(len(json.dumps(loader.state_dict())))
    assert min(sizes) > 1000
    assert max(sizes) < 2000
    # Only numbers grow, by digits.
    assert max(sizes) - min(sizes) < 50
