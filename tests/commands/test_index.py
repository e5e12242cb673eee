"""``dali-core index``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dali_core.__main__ import main
from dali_core.operators.video.index_cache import IndexCache, key_of
from tests import video_files
from tests.operators.readers.tar_files import sample_entries, write_tar


def test_index_files_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [
        str(write_tar(tmp_path / name, sample_entries(0, 2)))
        for name in ("a.tar", "b.TAR", "c-00000-of-00001")
    ]
    assert main(["index", "wds", *paths]) == 0
    names = ["a.idx", "b.idx", "c-00000-of-00001.idx"]
    assert sorted(path.name for path in tmp_path.glob("*.idx")) == names
    assert main(["index", "wds", *paths, "-o", str(tmp_path / "made" / "below")]) == 0
    assert sorted(os.listdir(tmp_path / "made" / "below")) == names
    text = (tmp_path / "a.idx").read_text()
    assert text == (tmp_path / "made" / "below" / "b.idx").read_text()
    assert text.startswith("v1.2 2\njpg 512 0 part/000.jpg cls 1024 3 part/000.cls\n")
    shown = capsys.readouterr()
    assert shown.err == ""
    assert shown.out.splitlines()[0] == f"{tmp_path / 'a.idx'}: 4 files of {paths[0]}"
    assert len(shown.out.splitlines()) == 6
    assert main(["index", "wds", str(write_tar(tmp_path / "d.tar", [("a b.jpg", b"")]))]) == 0
    assert (tmp_path / "d.idx").read_text() == "v1.1 1\njpg 512 0\n"


def test_damage_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_tar(tmp_path / "a.tar", sample_entries(0, 4))
    data = bytearray(path.read_bytes())
    data[0] ^= 1
    path.write_bytes(data)
    assert main(["index", "wds", str(path)]) == 1
    assert "at byte 0). Pack or copy it again. It is not in the index." in capsys.readouterr().err
    lines = (tmp_path / "a.idx").read_text().splitlines()
    assert lines[0] == "v1.2 3"
    assert lines[1].endswith("part/001.cls")


def test_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_tar(tmp_path / "a.tar", sample_entries(0, 2))
    (tmp_path / "folder").mkdir()
    same = write_tar(tmp_path / "folder" / "a.tar", sample_entries(0, 2))
    for arguments, message in (
        (["wds", str(tmp_path / "none.tar")], "none.tar': No such file or directory"),
        (["wds", str(tmp_path)], "must be a regular file"),
        (["wds", str(path), str(same), "-o", str(tmp_path)], "must have different names"),
        (["wds", str(path), "-o", str(path)], "File exists"),
        (["wds", str(write_tar(tmp_path / "b.tar", [("a.j pg", b"")]))], "without white space"),
    ):
        assert main(["index", *arguments]) == 2
        error = capsys.readouterr().err
        assert error.startswith("dali-core: error: ")
        assert error.count("\n") == 1
        assert message in error
    for wrong in (["index"], ["index", "zip", "a"], ["index", "wds"]):
        with pytest.raises(SystemExit) as caught:
            main(wrong)
        assert caught.value.code == 2
        assert "usage: dali-core" in capsys.readouterr().err


def test_videos_are_indexed_ahead(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv("DALI_CORE_VIDEO_CACHE", str(cache))
    good = video_files.make(tmp_path, "h264.mp4")
    bad = tmp_path / "bad.mp4"
    bad.write_bytes(good.read_bytes()[:100])
    assert main(["index", "video", str(good)]) == 0
    assert capsys.readouterr() == (f"{good}: 30 frames, in {cache}\n", "")
    assert set(IndexCache(str(cache)).load([key_of(str(good))])) == {str(good)}
    assert main(["index", "video", str(good), str(bad)]) == 1
    assert f"the file must be a sound video (got {str(bad)!r}: " in capsys.readouterr().err
    assert main(["index", "video", str(good), "-o", str(tmp_path)]) == 2
    assert "--output must be left out for videos" in capsys.readouterr().err
    monkeypatch.setenv("DALI_CORE_VIDEO_CACHE", "")
    assert main(["index", "video", str(good)]) == 2
    assert "there must be a cache" in capsys.readouterr().err


def test_the_module_is_a_program(tmp_path: Path) -> None:
    path = write_tar(tmp_path / "a.tar", sample_entries(0, 2))
    command = [sys.executable, "-W", "error", "-m", "dali_core", "index", "wds", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{tmp_path / 'a.idx'}: 4 files of {path}\n"
    assert (tmp_path / "a.idx").exists()
