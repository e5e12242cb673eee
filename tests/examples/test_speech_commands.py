"""The example of words writes sounds, trains a network that tells them apart, and draws spectra."""

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

from examples.shared.loader import Loader
from examples.speech_commands.__main__ import read_arguments
from examples.speech_commands.dataloading import (
    FILTERS,
    STEPS,
    held_out_pipeline,
    sample_pipeline,
)
from examples.speech_commands.sounds import FORMATS, RATE, WORDS, write_data_set

ROOT = Path(__file__).parents[2]
OPTIONS: dict[str, Any] = {"num_threads": 1, "device_id": None, "seed": 5}


def test_from_sounds_to_accuracy(tmp_path: Path) -> None:
    short = ["--sounds=100", "--held-out=40", "--epochs=6", "--batch-size=10", "--threads=1"]
    done = subprocess.run(
        [sys.executable, "-m", "examples.speech_commands", "--work", str(tmp_path), *short],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "100 sounds of 10 words to train on, 40 held out: wav, flac, ogg"
    assert re.fullmatch(r"training: \d+ sounds/s", lines[2])
    losses = re.fullmatch(r"loss: (\S+) in the first epoch, (\S+) in the last", lines[3])
    assert losses is not None, lines
    first, last = map(float, losses.groups())
    assert 0 < last < 0.7 * first
    found = re.fullmatch(
        r"accuracy on held-out sounds: (\S+)% before training, (\S+)% after", lines[4]
    )
    assert found is not None, lines
    before, after = map(float, found.groups())
    assert before < 35
    assert after > 50
    assert "60/60" in done.stderr
    with Image.open(tmp_path / "speech_commands.png") as picture:
        assert min(picture.size) > 700


def test_words_of_all_formats(tmp_path: Path) -> None:
    listing = write_data_set(tmp_path, 30, [1])
    assert {path.suffix for path in tmp_path.iterdir()} == {".txt"} | {f".{f}" for f in FORMATS}
    batches = list(
        Loader(held_out_pipeline(listing, batch_size=16, **OPTIONS), ["spectra", "labels"])
    )
    assert [tuple(batch["spectra"].shape) for batch in batches] == [
        (count, FILTERS, STEPS) for count in (16, 14)
    ]
    labels = [int(label) for batch in batches for label in batch["labels"][:, 0]]
    assert labels == [*range(len(WORDS))] * 3
    for batch in batches:
        assert float(batch["spectra"].min()) >= -1e-6
        assert float(batch["spectra"].max()) == pytest.approx(1, abs=1e-6)


def test_trimmed_parts_are_silence(tmp_path: Path) -> None:
    listing = write_data_set(tmp_path, 10, [2])
    sounds, whole, cut = sample_pipeline(listing, batch_size=10, **OPTIONS).run()
    for i in range(10):
        sound, spectra = np.array(sounds.at(i)), np.array(whole.at(i))
        assert spectra.shape == (FILTERS, 1 + len(sound) // (RATE // 100))
        assert spectra.max() == pytest.approx(0, abs=1e-4)
        assert np.array(cut.at(i)).mean(axis=0)[0] > 0.15


def test_invalid_options(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["speech_commands", "--sounds=4"])
    with pytest.raises(SystemExit, match="2"):
        read_arguments()
    assert "--sounds: must be at least 5 (got 4)" in capsys.readouterr().err
