"""The program in README.md runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from examples.photos import generate

pytest.importorskip("torch", reason="PyTorch is not installed")

README = Path(__file__).parents[2] / "README.md"


def test_first_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generate(tmp_path / "photos", ["towers", "wood"], per_class=5)
    monkeypatch.chdir(tmp_path)
    program = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)[0]
    names: dict[str, object] = {}
    exec(compile(program, str(README), "exec"), names)
    images, labels = names["images"], names["labels"]
    assert tuple(images.shape) == (8, 3, 224, 224)
    assert sorted(labels.flatten().tolist()) == [0] * 4 + [1] * 4
    assert abs(float(images.mean())) < 1
