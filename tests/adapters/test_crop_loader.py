"""PyTorch's own loader of crops, which ``dali-core bench`` measures besides this library."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from dali_core_pytorch import crop_loader

from dali_core.__main__ import main
from tests.generated_images import jpeg, photo_like


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"{number}.jpg" for number in range(3)]
    for path in paths:
        path.write_bytes(jpeg(photo_like(40, 60)))
    paths[1].write_bytes(b"not an image")
    return list(map(str, paths))


def test_crops(files: list[str]) -> None:
    dataset = crop_loader._Crops(files, 32)
    crops = [dataset[index] for index in range(3)]
    assert {tuple(crop.shape) for crop in crops} == {(32, 32, 3)}
    assert not torch.equal(dataset[0], dataset[0])


def test_the_command_compares(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(Path(files[0]).parent)
    options = ["--seconds", "0", "--rounds", "1", "--max-threads", "1", "--json"]
    assert main(["bench", folder, *options]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["torch"].startswith(f"torch {torch.__version__} DataLoader, ")
    assert report["results"][0]["torch_images_per_second"]["median"] > 0
