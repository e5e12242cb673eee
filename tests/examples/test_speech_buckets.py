"""The example of buckets trains on sounds of different durations with little padding."""

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
pytest.importorskip("soundfile", reason="not available: soundfile")

import torch

from examples.speech_buckets.__main__ import read_arguments
from examples.speech_buckets.dataloading import FILTERS, NUM_BUCKETS, WAYS, make_loader
from examples.speech_buckets.model import Network
from examples.speech_buckets.sounds import durations, write_data_set

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def listing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data_set(tmp_path_factory.mktemp("sounds"), 60, [1])


def test_from_sounds_to_accuracy(tmp_path: Path) -> None:
    short = ["--sounds=120", "--held-out=30", "--epochs=5", "--frames=2000", "--threads=1"]
    done = subprocess.run(
        [sys.executable, "-m", "examples.speech_buckets", "--work", str(tmp_path), *short],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert re.fullmatch(r"120 sounds of 10 words, 0.\d to \d.\d seconds, 30 held out", lines[0])
    rows = {line.split()[0]: line.split()[1:] for line in lines[2 : 2 + len(WAYS)]}
    assert tuple(rows) == WAYS
    padding = {name: float(row[1].rstrip("%")) for name, row in rows.items()}
    assert padding["budget"] < padding["buckets"] < padding["random"] - 20
    for row in rows.values():
        assert float(row[3]) < 2
        assert float(row[4].rstrip("%")) > 30
    with Image.open(tmp_path / "speech_buckets.png") as picture:
        assert min(picture.size) > 300


def test_durations_are_those_of_the_spectra(listing: Path) -> None:
    with make_loader("budget", listing, frames=1500, num_threads=1, shuffle=False) as loader:
        found = [frames for _, mask, _ in loader for frames in mask.sum(1).tolist()]
    # Compressed files may have a few samples more than their headers say.
    assert np.abs(np.sort(found) - np.sort(durations(listing))).max() <= 1


@pytest.mark.parametrize("way", WAYS)
def test_each_sound_once(listing: Path, way: str) -> None:
    with make_loader(way, listing, frames=1500, num_threads=1) as loader:
        for _ in range(2):
            batches = list(loader)
            assert len(batches) == len(loader)
            labels = [label for _, _, batch in batches for label in batch.tolist()]
            assert sorted(labels) == sorted(list(range(10)) * 6)
            if way != "random":
                assert all(spectra[..., 0].numel() <= 1500 for spectra, _, _ in batches)


def test_processes_have_one_class_at_a_step(listing: Path) -> None:
    settings: dict[str, Any] = {"frames": 700, "num_threads": 1, "num_ranks": 2}
    edges = np.unique(np.quantile(durations(listing), np.linspace(0, 1, NUM_BUCKETS + 1)))
    assert len(edges) > 3
    with (
        make_loader("buckets", listing, rank=0, **settings) as first,
        make_loader("buckets", listing, rank=1, **settings) as second,
    ):
        steps = [
            (one[1].shape, other[1].shape)
            for one, other in zip(first, second, strict=True)
            if len(one[1]) and len(other[1])
        ]
    assert len(steps) > 3
    lengths = np.array([(one[1], other[1]) for one, other in steps], float)
    assert np.corrcoef(lengths.T)[0, 1] > 0.8


def test_padding_does_not_change_scores() -> None:
    torch.manual_seed(0)
    model = Network().eval()
    spectra = torch.rand(1, 80, FILTERS)
    mask = torch.ones(1, 80)
    longer = torch.cat([spectra, torch.rand(1, 40, FILTERS)], 1)
    padded = torch.cat([mask, torch.zeros(1, 40)], 1)
    with torch.no_grad():
        torch.testing.assert_close(model(longer, padded), model(spectra, mask))


def test_invalid_options(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["speech_buckets", "--frames=4"])
    with pytest.raises(SystemExit, match="2"):
        read_arguments()
    assert "--frames: must be at least 100 (got 4)" in capsys.readouterr().err
