"""The video example generates videos, trains, is better than bicubic, and draws a picture."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

pytest.importorskip("av", reason="not available: PyAV")
pytest.importorskip("torch", reason="not available: PyTorch")

from examples.video_superres.__main__ import read_arguments
from examples.video_superres.dataloading import DALILoader
from examples.video_superres.videos import FORMATS, HELD_OUT, TRAIN, Size, generate

ROOT = Path(__file__).parents[2]


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "examples.video_superres", *map(str, arguments)]
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_from_scenes_to_a_picture(tmp_path: Path) -> None:
    short = ["--videos=4", "--length=12", "--epochs=20", "--crop-size=48", "--batch-size=2"]
    done = run("--work", tmp_path, *short)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "4 videos to train on, 3 held out: H.264, VP9, HEVC, MPEG-4"
    assert re.fullmatch(r"reading: \d+ frames/s", lines[1])
    assert re.fullmatch(r"training: \d+ frames/s", lines[2])
    found = re.fullmatch(r"bicubic: (\S+) dB, ours: (\S+) dB \((\S+) dB\)", lines[-1])
    assert found is not None, lines
    bicubic, ours, gain = map(float, found.groups())
    assert 15 < bicubic < ours < 45
    assert gain == pytest.approx(ours - bicubic, abs=0.011)
    # 4 videos of 4 clips of 3 frames each, 20 times
    assert "training: 100%" in done.stderr
    assert "960/960" in done.stderr
    with Image.open(tmp_path / "video_superres.png") as picture:
        assert min(picture.size) > 900


def test_loader_outputs_match_the_page(tmp_path: Path) -> None:
    size = Size(videos=len(FORMATS), held_out=1, frames=10, height=64, width=96)
    folder = generate(tmp_path / "videos", size, seed=1)
    assert {path.suffix for path in (folder / TRAIN).iterdir()} == {
        f".{form.suffix}" for form in FORMATS
    }
    assert len(list((folder / HELD_OUT).iterdir())) == 1
    loader = DALILoader(4, folder / TRAIN, 5, [48, 40])
    assert len(loader) == 2 * size.videos
    for _ in range(2):
        batches = [inputs[0]["data"] for inputs in loader]
        assert [tuple(batch.shape) for batch in batches] == [(4, 3, 5, 48, 40)] * 2 + [
            (2, 3, 5, 48, 40)
        ]
        assert {str(batch.dtype) for batch in batches} == {"torch.float32"}
        assert max(float(batch.max()) for batch in batches) > 100


def test_videos_are_kept_and_other_files_left_alone(tmp_path: Path) -> None:
    size = Size(videos=1, held_out=1, frames=2, height=64, width=64)
    folder = generate(tmp_path / "videos", size, seed=1)
    (video,) = (folder / TRAIN).iterdir()
    written = video.stat().st_mtime_ns
    generate(folder, size, seed=1)
    assert video.stat().st_mtime_ns == written
    (tmp_path / "holiday.mp4").write_bytes(b"precious")
    with pytest.raises(FileExistsError, match="Choose another folder"):
        generate(tmp_path, size, seed=1)


def test_invalid_options(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["video_superres", "--frames=5", "--length=4"])
    with pytest.raises(SystemExit, match="2"):
        read_arguments()
    assert "--frames: must be at most the 4 frames of a video (got 5)" in capsys.readouterr().err
