"""Saved indices on their way to the workers that decode, and back."""

from __future__ import annotations

import os
import shutil
import signal
from array import array
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("av", reason="not available: PyAV")

from dali_core import Pipeline, fn
from dali_core.operators.video import backends
from dali_core.operators.video.index_builders import build_indices
from dali_core.operators.video.index_cache import IndexCache, key_of
from dali_core.operators.video.worker.packed_index import PackedIndex
from tests.children import children_of
from tests.operators.video.test_video_processes import run, with_stand_in

CORRECT, MARKED = np.arange(4) / 25, np.arange(4) / 12.5


@pytest.fixture
def path(video: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that no worker has seen, and an empty cache."""
    monkeypatch.setenv(backends.CACHE_VARIABLE, str(tmp_path / "cache"))
    file = tmp_path / "some video.mp4"
    shutil.copy(video("h264.mp4"), file)
    return file


@pytest.fixture
def reader(video_worker: str, path: Path) -> Pipeline:
    """A pipeline that is built: its indices are saved, and no worker has loaded them."""
    with Pipeline(batch_size=1, num_threads=1, device_id=None) as pipeline:
        frames, times = fn.readers.video(
            filenames=[str(path)], sequence_length=4, enable_timestamps=True
        )
        pipeline.set_outputs(frames, times)
    pipeline.build()
    return pipeline


def times_of(pipeline: Pipeline) -> np.ndarray:
    frames, times = pipeline.run()
    assert np.array(frames.at(0)).shape == (4, 48, 64, 3)
    return np.array(times.at(0))


def saved(path: Path) -> list[bytes]:
    cache = IndexCache(str(path.parent / "cache"))
    return list(cache.load_bytes([key_of(str(path))]).values())


def built(path: Path) -> PackedIndex:
    (index,) = build_indices([str(path)], progress=False)
    assert isinstance(index, PackedIndex)
    return index


def mark(path: Path, more_frames: int = 0) -> None:
    """Save an index with doubled times, which no worker would make."""
    index = built(path)
    last = max(index.positions)
    index.positions = array("i", [*index.positions, *range(last + 1, last + 1 + more_frames)])
    index.pts = array("q", [2 * time for time in index.pts])
    step = index.pts[1] - index.pts[0]
    index.pts.extend(index.pts[-1] + step * (1 + number) for number in range(more_frames))
    index.num_packets += more_frames
    IndexCache(str(path.parent / "cache")).store([(key_of(str(path)), index)])


def helpers() -> list[int]:
    return [pid for pid, line in children_of(os.getpid()).items() if "\0saved\0" in line]


@pytest.mark.parametrize("more_frames", [0, 200_000])
def test_saved_index_reaches_the_worker(more_frames: int, path: Path, reader: Pipeline) -> None:
    """Also if it is larger than the memory for frames."""
    mark(path, more_frames)
    assert (len(saved(path)[0]) > 2 << 20) == bool(more_frames)
    np.testing.assert_allclose(times_of(reader), MARKED)
    assert len(helpers()) == 1


@pytest.mark.parametrize("damage", ["no database", "no index", "wrong checksum", "other version"])
def test_damaged_index_is_made_again(damage: str, path: Path, reader: Pipeline) -> None:
    """The worker makes it, and it is saved again."""
    mark(path)
    (kept,) = (path.parent / "cache").iterdir()
    cache = IndexCache(str(kept.parent))
    if damage == "no database":
        kept.write_bytes(b"no database" * 400)
    elif damage == "no index":
        cache.store_bytes([(key_of(str(path)), b"")])
    elif damage == "wrong checksum":
        data = bytearray(saved(path)[0])
        data[-1] ^= 1
        cache.store_bytes([(key_of(str(path)), bytes(data))])
    else:
        name, size, changed = key_of(str(path))
        kept.unlink()
        cache.store([((name, size, changed - 1), built(path))])
    np.testing.assert_allclose(times_of(reader), CORRECT)
    assert saved(path) == [built(path).to_bytes()]


@pytest.mark.parametrize("planted", ["link", "pipe", "folder of every user"])
def test_planted_databases_are_not_used(planted: str, path: Path, reader: Pipeline) -> None:
    """Others may have put them there; nothing hangs, and nothing is written."""
    mark(path)
    folder = path.parent / "cache"
    (kept,) = folder.iterdir()
    if planted == "folder of every user":
        folder.chmod(0o777)
    else:
        kept.rename(path.parent / "moved")
        if planted == "link":
            kept.symlink_to(path.parent / "moved")
        else:
            os.mkfifo(kept)
    data = sorted(file.read_bytes() for file in path.parent.rglob("*") if file.is_file())
    np.testing.assert_allclose(times_of(reader), CORRECT)
    assert sorted(file.read_bytes() for file in path.parent.rglob("*") if file.is_file()) == data


@pytest.mark.parametrize("program", ["exit 1", "cat <&3", "printf word >&3", "/no/such/program"])
def test_helper_that_fails(
    program: str, video_worker: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The workers do without: results are the same."""
    command = [program] if program[0] == "/" else ["/bin/sh", "-c", program]
    with Pipeline(batch_size=1, num_threads=1, device_id=None) as pipeline:
        frames, times = fn.readers.video(
            filenames=[str(path)], sequence_length=4, enable_timestamps=True
        )
        pipeline.set_outputs(frames, times)
    assert backends.video_arguments()["video_indices"][-2] == "saved"
    monkeypatch.setattr(backends, "saved_indices_command", lambda: command)
    pipeline.build()
    np.testing.assert_allclose(times_of(pipeline), CORRECT)


def test_killed_helper(path: Path, reader: Pipeline) -> None:
    """Files that are opened later have no saved index, and are decoded all the same."""
    np.testing.assert_allclose(times_of(reader), CORRECT)
    (helper,) = helpers()
    os.kill(helper, signal.SIGKILL)
    other = path.with_name("other.mp4")
    shutil.copy(path, other)
    with Pipeline(batch_size=1, num_threads=1, device_id=None) as pipeline:
        pipeline.set_outputs(fn.readers.video(filenames=[str(other)], sequence_length=4))
    assert np.array(pipeline.run()[0].at(0)).shape == (4, 48, 64, 3)


READ = """
with Pipeline(batch_size=1, num_threads=1, device_id=None) as pipeline:
    pipeline.set_outputs(fn.readers.video(filenames=[path], sequence_length=4))
pipeline.build()
for file in Path(os.environ[backends.CACHE_VARIABLE]).iterdir():
    file.unlink()
try:
    print(np.array(pipeline.run()[0].at(0)).shape)
except SampleError as error:
    print(error)
"""

HOSTILE = """
def save(self, command, index):
    {body}
    self._receive_word(command)
serving._Server._save = save
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("self._reply(command, serving._MADE_INDEX, 0, 1 << 40)", "does not answer as it must"),
        ("self._reply(command, serving._MADE_INDEX, 0, -1)", "does not answer as it must"),
        ("self._reply(command, serving._NEEDS_INDEX)", "does not answer as it must"),
        ("self._reply(command, serving._MADE_INDEX, 0, 400)", "(4, 48, 64, 3)"),
    ],
)
def test_compromised_worker(body: str, expected: str, path: Path) -> None:
    """Sizes are checked, and what is no index is not saved."""
    cache = str(path.parent / "cache")
    IndexCache(cache).store([(key_of(str(path)), built(path))])
    program = with_stand_in(HOSTILE.format(body=body)) + READ
    assert expected in run(program, path, **{backends.CACHE_VARIABLE: cache})
    assert saved(path) == []
