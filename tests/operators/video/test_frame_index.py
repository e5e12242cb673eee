"""Indices of videos, and their cache."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("av", reason="not available: PyAV")

from dali_core._extras import install_command
from dali_core.errors import MissingModuleError
from dali_core.operators.video import backends, frame_index, index_builders
from dali_core.operators.video.frame_index import FrameIndex, VideoError, open_indices
from dali_core.operators.video.worker.packed_index import DamagedIndexError, PackedIndex
from tests.caches import warned_of_cache


@pytest.fixture
def cache(video_worker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache" / "of" / "indices"
    monkeypatch.setenv(backends.CACHE_VARIABLE, str(folder))
    return folder


def opened(*paths: Path) -> list[FrameIndex]:
    indices = []
    for index in open_indices(paths):
        assert isinstance(index, FrameIndex), index
        indices.append(index)
    return indices


def no_builders(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> Any:
        raise AssertionError("the file was read")

    monkeypatch.setattr(frame_index, "build_indices", refuse)


def test_index_metadata(video: Callable[[str], Path], cache: Path) -> None:
    (index,) = opened(video("h264_quarter_turn.mp4"))
    assert (index.num_frames, index.codec, index.is_variable) == (30, "h264", False)
    assert (index.width, index.height, index.orientation) == (48, 64, 8)
    assert index.frames_per_second == pytest.approx(25)
    np.testing.assert_allclose(index.seconds, np.arange(30) / 25)
    np.testing.assert_array_equal(index.keyframes, [0, 12, 24])
    assert index.pts.dtype == np.int64


def test_variable_rate_and_late_start(video: Callable[[str], Path], cache: Path) -> None:
    uneven, late, raw = opened(
        video("h264_uneven.mp4"), video("h264_late.mp4"), video("h264_b.avi")
    )
    assert uneven.is_variable
    assert not late.is_variable
    assert late.seconds[0] == 0
    # Without timestamps, frames are counted, and decoding can only start at the start of the file.
    np.testing.assert_array_equal(raw.pts, np.arange(raw.num_frames))
    np.testing.assert_array_equal(raw.keyframes, [0])


def test_second_time_from_the_cache(
    video: Callable[[str], Path], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [video("h264.mp4"), video("vp9.webm")]
    first = opened(*paths)
    no_builders(monkeypatch)
    for one, other in zip(first, opened(*paths), strict=True):
        assert one.codec == other.codec
        np.testing.assert_array_equal(one.pts, other.pts)
        np.testing.assert_array_equal(one.keyframes, other.keyframes)


def test_changed_file_is_read_again(
    video: Callable[[str], Path], cache: Path, tmp_path: Path
) -> None:
    path = tmp_path / "video"
    shutil.copy(video("h264.mp4"), path)
    assert opened(path)[0].codec == "h264"
    shutil.copy(video("vp9.webm"), path)
    assert opened(path)[0].codec == "vp9"


@pytest.mark.parametrize("damage", [b"", b"no database", None])
def test_damaged_cache(
    video: Callable[[str], Path], video_worker: str, cache: Path, damage: bytes | None
) -> None:
    path = video("h264.mp4")
    (first,) = opened(path)
    (file,) = cache.iterdir()
    content = file.read_bytes()
    # Without `damage`: bytes in the index itself, which the database does not detect.
    changed = content.replace(b"h264", b"h265") if damage is None else damage
    assert changed != content
    file.write_bytes(changed)
    is_warned = bool(damage)  # listing opens the cache in this process, whatever decodes
    for is_first in (True, False):
        with warned_of_cache("is damaged", is_expected=is_warned and is_first):
            (second,) = opened(path)
        assert second.codec == "h264"
        np.testing.assert_array_equal(first.pts, second.pts)


def test_cache_that_cannot_be_written(
    video: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_the_way = tmp_path / "a file"
    in_the_way.touch()
    for folder in (str(in_the_way / "cache"), ""):
        monkeypatch.setenv(backends.CACHE_VARIABLE, folder)
        with warned_of_cache("Not a directory", is_expected=bool(folder)):
            assert opened(video("h264.mp4"))[0].num_frames == 30
    assert sorted(tmp_path.iterdir()) == [in_the_way]


def test_folders_of_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(backends.CACHE_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/some/where")
    assert backends.cache_folder() == "/some/where/dali_core/video"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/some/home")
    assert backends.cache_folder() == "/some/home/.cache/dali_core/video"


def test_files_that_are_no_videos(
    video: Callable[[str], Path], cache: Path, tmp_path: Path
) -> None:
    text = tmp_path / "text.mp4"
    text.write_text("This is no video.")
    cut = tmp_path / "cut.mp4"
    cut.write_bytes(video("h264.mp4").read_bytes()[:600])
    results = open_indices([tmp_path / "missing.mp4", text, video("h264.mp4"), cut, tmp_path])
    assert isinstance(results.pop(2), FrameIndex)
    names = ["missing.mp4", "text.mp4", "cut.mp4", tmp_path.name]
    for name, error in zip(names, results, strict=True):
        assert isinstance(error, VideoError)
        assert f"{name}': " in str(error)
        assert "must be a sound video" in str(error)


def test_process_that_breaks_down(
    video: Callable[[str], Path], cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is named, and the next one is decoded by another process."""
    code = """
import os, struct, sys
size = struct.unpack("<I", sys.stdin.buffer.read(4))[0]
os.kill(os.getpid(), 11 if b"one" in sys.stdin.buffer.read(size) else 27)
"""
    command = [sys.executable, "-c", code]
    monkeypatch.setattr(index_builders, "worker_command", lambda mode: list(command))
    paths = [tmp_path / "one", tmp_path / "two"]
    for path in paths:
        path.touch()
    one, two = open_indices(paths)
    assert "breaks down, with code -11" in str(one)
    assert "takes more time than a file of its size is worth" in str(two)


def test_without_pyav(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_builders, "worker_command", lambda mode: [])
    (tmp_path / "video").touch()
    with pytest.raises(MissingModuleError, match=re.escape(install_command("video"))):
        open_indices([tmp_path / "video"])


def test_bytes_of_an_index() -> None:
    data = PackedIndex(codec="h264", coded_width=3, num_packets=4).to_bytes()
    assert PackedIndex.from_bytes(data).to_bytes() == data
    for place in (0, 9, 20, len(data) - 40):
        damaged = bytearray(data)
        damaged[place] ^= 1
        with pytest.raises(DamagedIndexError):
            PackedIndex.from_bytes(bytes(damaged))
    with pytest.raises(DamagedIndexError, match="too short"):
        PackedIndex.from_bytes(data[:20])


def test_progress(
    video: Callable[[str], Path], cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tqdm", reason="not available: tqdm")
    open_indices([video("h264.mp4")])
    assert capfd.readouterr().err == ""  # no terminal
    os.environ[backends.CACHE_VARIABLE] = ""
    open_indices([video("h264.mp4")], progress=True)
    assert "1/1" in capfd.readouterr().err


def test_a_pipe_is_not_opened(cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "pipe.mp4"
    os.mkfifo(path)  # opening it would wait for somebody who writes
    (error,) = open_indices([path])
    assert isinstance(error, VideoError)
    assert "it is no regular file" in str(error)
