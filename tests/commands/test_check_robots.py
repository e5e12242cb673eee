"""``dali-core check`` of LeRobot data sets: distances of key frames, costs, and lost frames."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("av", reason="not available: PyAV")
pytest.importorskip("pyarrow", reason="not available: pyarrow")

from dali_core.__main__ import main
from tests.operators.readers.lerobot_files import Written, change_info

TOP = "observation.images.top"


def report(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["check", str(folder)]) == 0
    return capsys.readouterr().out


def test_key_frames_and_costs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Written(cameras={TOP: 4}).write(tmp_path / "near")
    text = report(tmp_path / "near", capsys)
    assert "LeRobot v3.0: 4 episodes, 16 frames, 1 cameras" in text
    assert f"{TOP}: key frames every 2 frames, at most 2; a frame at random decodes 1.5" in text
    assert "ffmpeg" not in text
    assert "lack frames" not in text

    Written((40, 20), "v2.1", {TOP: 1}, group=250).write(tmp_path / "far")
    text = report(tmp_path / "far", capsys)
    # (40 * 41 + 20 * 21) / 2 of 60 frames
    assert "key frames every 30 frames, at most 40; a frame at random decodes 17.2" in text
    assert "encode the videos again with a key frame at every second frame (ffmpeg -g 2)" in text


def test_lost_frames(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Written((5, 4, 6), cameras={TOP: 3}, lost={0: 1, 2: 2}).write(tmp_path)
    assert "the videos of 2 episodes lack frames (0, 2), whose samples are bad" in report(
        tmp_path, capsys
    )


def test_damaged_metadata(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Written(cameras={TOP: 4}).write(tmp_path)
    change_info(tmp_path, lambda info: info.update(fps=-1))
    assert "fps must be positive" in report(tmp_path, capsys)
