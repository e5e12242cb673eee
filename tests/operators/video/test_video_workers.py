"""The native and the Python video worker: shared behaviour."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("av", reason="not available: PyAV")

import av

from dali_core import Pipeline, fn
from dali_core._extras import install_command
from dali_core.errors import ArgumentValueError, MissingModuleError, SampleError
from dali_core.operators.video import backends, index_builders
from dali_core.operators.video.index_builders import _Builders, build_indices
from dali_core.operators.video.worker.index_cache import IndexCache, key_of
from dali_core.operators.video.worker.packed_index import PackedIndex
from tests.hanging import HANG_SECONDS
from tests.mutated_videos import decoded
from tests.operators.suite import pipeline
from tests.video_files import RECIPES

needs_native_worker = pytest.mark.skipif(
    backends.native_worker() is None, reason="not available: FFmpeg's development files"
)


def indices(paths: list[Path]) -> list[bytes | str]:
    built = build_indices([str(path) for path in paths], progress=False)
    return [index if isinstance(index, str) else index.to_bytes() for index in built]


def num_frames(path: Path) -> int:
    """Count the frames of a file whose path is given, so that the worker looks into the cache."""
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipeline:
        frames = fn.experimental.readers.video(
            filenames=[str(path)], sequence_length=1, name="videos"
        )
        pipeline.set_outputs(frames)
    pipeline.build()
    pipeline.run()
    return int(pipeline.epoch_size("videos"))  # type: ignore[arg-type]


@needs_native_worker
def test_both_make_the_same_index(
    video: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [video(recipe.name) for recipe in RECIPES]
    made = {}
    for worker in ("native", "pyav"):
        monkeypatch.setenv(backends.WORKER_VARIABLE, worker)
        made[worker] = indices(paths)
    wrong = [
        path.name
        for path, native, other in zip(paths, made["native"], made["pyav"], strict=True)
        if native != other or isinstance(native, str)
    ]
    assert wrong == []
    assert len(paths) > 50


def test_index_that_a_worker_keeps(
    video_worker: str, video: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It equals the index of the program itself, and can be read back."""
    folder = tmp_path / "cache" / "ä"
    path = tmp_path / "some video.mp4"
    shutil.copy(video("h264.mp4"), path)
    monkeypatch.setenv(backends.CACHE_VARIABLE, str(folder))
    assert num_frames(path) == 30
    (kept,) = folder.iterdir()
    with sqlite3.connect(kept) as database:
        rows = database.execute("SELECT path, size, changed FROM indices").fetchall()
    database.close()
    assert rows == [key_of(str(path))]
    (index,) = IndexCache(str(folder)).load([key_of(str(path))]).values()
    assert [index.to_bytes()] == indices([path])


@needs_native_worker
@pytest.mark.parametrize("damage", [None, b"no database" * 400])
def test_native_worker_and_the_cache(
    damage: bytes | None, video: Callable[[str], Path], tmp_path: Path
) -> None:
    """It uses the cached index, and replaces a damaged one."""
    path, cache = video("h264.mp4"), IndexCache(str(tmp_path))
    (built,) = build_indices([str(path)], progress=False)
    assert isinstance(built, PackedIndex)
    built.coded_width = 40  # no worker would compute this value
    cache.store([(key_of(str(path)), built)])
    (kept,) = tmp_path.iterdir()
    if damage:
        kept.write_bytes(damage)
    assert described(path, tmp_path)[0] == (64 if damage else 40)
    described(path, tmp_path)
    (index,) = cache.load([key_of(str(path))]).values()
    assert index.coded_width == (64 if damage else 40)


@needs_native_worker
@pytest.mark.parametrize("planted", ["link", "pipe", "folder of every user"])
def test_native_worker_and_planted_databases(
    planted: str, video: Callable[[str], Path], tmp_path: Path
) -> None:
    """It uses no database that others may have put there, and does not hang."""
    path, folder = video("h264.mp4"), tmp_path / "cache"
    cache = IndexCache(str(folder))
    (built,) = build_indices([str(path)], progress=False)
    assert isinstance(built, PackedIndex)
    built.coded_width = 40
    cache.store([(key_of(str(path)), built)])
    (kept,) = folder.iterdir()
    if planted == "folder of every user":
        folder.chmod(0o777)
    else:
        kept.rename(tmp_path / "moved")
        if planted == "link":
            kept.symlink_to(tmp_path / "moved")
        else:
            os.mkfifo(kept)
    data = sorted(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    for _ in range(2):
        assert described(path, folder)[0] == 64
    assert sorted(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()) == data


def described(path: Path, cache: Path) -> tuple[int, int]:
    """Request width and height of a file from a separate native worker."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    name = os.fsencode(path)
    command = [str(backends.native_worker()), "frames", str(cache)]
    # The program expects its socket as file descriptor 3.
    program = "import os, sys; os.dup2(int(sys.argv[1]), 3); os.execv(sys.argv[2], sys.argv[2:])"
    start = [sys.executable, "-c", program, str(theirs.fileno()), *command]
    memory = os.memfd_create("frames")
    os.ftruncate(memory, 1 << 16)
    os.pwrite(memory, name, 0)
    with ours, subprocess.Popen(start, pass_fds=[theirs.fileno()]) as process:
        theirs.close()
        message = struct.pack("<7QdIIII", 1, 1, 1 << 16, 1, len(name), 0, 1 << 20, 60, 0, 1, 1, 1)
        socket.send_fds(ours, [message], [memory])
        os.close(memory)
        reply = ours.recv(1 << 16)
        ours.close()
        assert process.wait(HANG_SECONDS) == 0
    number, kind, _, width, height, *_ = struct.unpack_from("<Qiiqqqqd", reply)
    assert (number, kind) == (1, 1), reply[56:]
    return width, height


@pytest.mark.parametrize(
    "text",
    [
        "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n{}\n#EXT-X-ENDLIST\n",
        "ffconcat version 1.0\nfile {}\n",
    ],
)
def test_files_that_name_others(
    text: str, video_worker: str, video: Callable[[str], Path], tmp_path: Path
) -> None:
    """Only the file itself is read: a playlist of valid videos is rejected."""
    shutil.copy(video("h264_late.ts"), tmp_path / "other.ts")
    playlist = tmp_path / "videos.m3u8"
    playlist.write_text(text.format("other.ts"))
    (reason,) = indices([playlist])
    assert isinstance(reason, str)
    assert "it cannot be opened" in reason


def test_reading_that_does_not_end(video_worker: str, tmp_path: Path) -> None:
    """A pipe without a writer blocks a worker until its timeout."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    builders = _Builders([*backends.worker_command("index"), "0.01"], ())
    reason = builders.build(str(pipe))
    builders.close()
    assert reason == "reading it takes more time than a file of its size is worth"


PIXELS = np.random.default_rng(1).integers(0, 256, (6, 10, 3), np.uint8)


@pytest.mark.parametrize(
    ("pixels", "allowed"),
    [
        *(("rgb24", 0), ("bgr0", 0), ("argb", 0), ("gbrp", 0), ("gbrp10le", 1), ("rgb48le", 1)),
        *(("rgb565le", 8), ("pal8", 0), ("gray", 0), ("gray16le", 1), ("ya8", 0), ("monow", 0)),
        *(("monob", 0), ("yuv444p", 0), ("nv12", 0), ("yuyv422", 0), ("uyvy422", 0)),
        *(("yuv410p", 0), ("yuva420p", 0), ("yuv422p12le", 0)),
    ],
)
@needs_native_worker
def test_pixel_formats(
    pixels: str, allowed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every sample order of codecs is converted to the picture of PyAV."""
    path = tmp_path / "video.nut"
    with av.open(str(path), "w") as output:
        stream = output.add_stream("rawvideo", rate=25)
        stream.width, stream.height, stream.pix_fmt = 10, 6, pixels
        if pixels == "pal8":
            frame = av.VideoFrame(10, 6, "pal8")
            frame.planes[0].update(bytes(np.arange(6 * frame.planes[0].line_size, dtype=np.uint8)))
            colours = np.random.default_rng(2).integers(0, 256, (256, 4), np.uint8)
            colours[:, 3] = 255
            frame.planes[1].update(colours.tobytes())
        else:
            frame = av.VideoFrame.from_ndarray(PIXELS, format="rgb24").reformat(format=pixels)
        frame.pts = 0
        output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    found = {}
    for worker in ("native", "pyav"):
        monkeypatch.setenv(backends.WORKER_VARIABLE, worker)
        found[worker] = decoded(path).astype(int)
    assert found["native"].shape == (1, 6, 10, 3)
    assert np.ptp(found["native"]) > 100
    assert np.abs(found["native"] - found["pyav"]).max() <= allowed


def test_frames_that_need_more_memory(
    video_worker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is received separately, in memory that is enlarged for the first one."""
    path = tmp_path / "video.nut"
    colours = np.random.default_rng(3).integers(0, 256, (4, 3), np.uint8)
    with av.open(str(path), "w") as output:
        stream = output.add_stream("rawvideo", rate=25)
        stream.width, stream.height, stream.pix_fmt = 700, 300, "gbrp16le"
        for number, colour in enumerate(colours):
            picture = np.full((300, 700, 3), colour)
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24").reformat(format="gbrp16le")
            frame.pts = number
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    monkeypatch.setenv(backends.MEMORY_VARIABLE, "1")
    found = decoded(path).astype(int)
    assert found.shape == (4, 300, 700, 3)
    assert np.abs(found - colours[:, None, None].astype(int)).max() <= 1


# Which worker decodes


@needs_native_worker
def test_native_worker_is_preferred(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(backends.WORKER_VARIABLE, raising=False)
    native = str(backends.native_worker())
    assert backends.worker_command("frames") == [native, "frames"]
    monkeypatch.setenv(backends.WORKER_VARIABLE, "pyav")
    assert native not in backends.worker_command("frames")


def test_choice_that_is_not_there(
    video: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "native_worker", lambda: None)
    monkeypatch.delenv(backends.WORKER_VARIABLE, raising=False)
    assert backends.worker_command("index")[-3].endswith("worker")
    monkeypatch.setenv(backends.WORKER_VARIABLE, "native")
    with pytest.raises(MissingModuleError, match=r"libavcodec-dev .* unset the variable"):
        decoded(video("h264.mp4"))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv(backends.WORKER_VARIABLE, "pyav")
    with pytest.raises(MissingModuleError, match=re.escape(install_command("video"))):
        decoded(video("h264.mp4"))
    monkeypatch.delenv(backends.WORKER_VARIABLE)
    with pytest.raises(SampleError, match="pip install av"):
        decoded(video("h264.mp4"))
    monkeypatch.setenv(backends.WORKER_VARIABLE, "opencv")
    with pytest.raises(ArgumentValueError, match=r"must be 'native' or 'pyav' \(got 'opencv'\)"):
        decoded(video("h264.mp4"))


def test_worker_whose_libraries_are_gone(
    video: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "worker_command", lambda mode: ["/bin/sh", "-c", "exit 127"])
    with pytest.raises(SampleError, match="code 127, for want of a library"):
        decoded(video("h264.mp4"))
    monkeypatch.setattr(index_builders, "worker_command", backends.worker_command)
    (reason,) = indices([video("h264.mp4")])
    assert "code 127, for want of a library" in str(reason)


def test_choice_counts_for_the_next_operator(
    video: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that runs already is replaced."""
    monkeypatch.setattr(backends, "worker_command", lambda mode: ["/no/such/program"])
    with pytest.raises(SampleError, match="must be able to start"):
        decoded(video("h264.mp4"))
    monkeypatch.undo()
    assert len(decoded(video("h264.mp4"))) == 30


def test_relative_paths_after_a_change_of_folder(
    video: Callable[[str], Path],
    video_worker: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Workers stay in the folder in which they were started."""
    found = []
    for name in ("h264.mp4", "h264_upside_down.mov"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "same_name.mp4").write_bytes(video(name).read_bytes())
        monkeypatch.chdir(folder)
        with pipeline(batch_size=1) as made:
            made.set_outputs(fn.readers.video(filenames=["same_name.mp4"], sequence_length=2))
            found.append(np.array(made.run()[0].at(0)))
    np.testing.assert_array_equal(found[0], found[1][:, ::-1])
