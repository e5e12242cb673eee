"""`fn.experimental.inputs.video`: fed videos are returned as sequences."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core.errors import (
    ArgumentFormError,
    ArgumentTypeError,
    ArgumentValueError,
    NotFedError,
    SampleError,
)
from tests.hanging import HANG_SECONDS
from tests.operators.decoders.test_video import encoded as encoded_video
from tests.operators.readers.video_clips import numbers_of
from tests.operators.suite import Example

Video: TypeAlias = Callable[[str], Path]


def encoded() -> np.ndarray:
    return encoded_video(0)


EXAMPLES = [
    Example("sequences", (), {"sequence_length": 4}, depends_on_batch=True, feeds=[encoded] * 12),
]


def make(batch_size: int = 2, depth: int = 1, **arguments: Any) -> Pipeline:
    with Pipeline(batch_size, 2, None, prefetch_queue_depth=depth) as pipeline:
        pipeline.set_outputs(fn.experimental.inputs.video(name="videos", **arguments))
    return pipeline


def content(path: Path) -> np.ndarray:
    return np.fromfile(path, np.uint8)


def take(pipeline: Pipeline) -> list[list[int]]:
    (batch,) = pipeline.run()
    assert batch.layout() == "FHWC"
    return [numbers_of(batch.at(i)) for i in range(len(batch))]


def test_sequences(video: Video) -> None:
    pipeline = make(3, sequence_length=8)
    for name in ("h264.mp4", "vp8.webm"):
        pipeline.feed_input("videos", [content(video(name))])
    for _ in range(2):
        assert take(pipeline) == [list(range(i, i + 8)) for i in (0, 8, 16)]
        assert take(pipeline) == [list(range(24, 30))]
    with pytest.raises(NotFedError, match=r"iteration 4: a batch must be fed .* \(none is left\)"):
        pipeline.run()
    pipeline.feed_input("videos", content(video("h264_one_frame.mp4")))
    assert take(pipeline) == [[0]], "an empty queue is no end"
    pipeline.close()


@pytest.mark.parametrize("shape", [(1, -1), (-1, 1), (1, 1, -1)])
def test_bytes_in_further_dimensions(video: Video, shape: tuple[int, ...]) -> None:
    pipeline = make(sequence_length=30)
    data = content(video("h264.mp4"))
    pipeline.feed_input("videos", [data.reshape(shape)])
    assert take(pipeline) == [list(range(30))]
    with pytest.raises(ArgumentTypeError, match="must be an array of uint8 in one dimension"):
        pipeline.feed_input("videos", [data[:100].reshape(2, 50)])
    pipeline.close()


def test_last_sequence_is_padded(video: Video) -> None:
    pipeline = make(4, sequence_length=20, last_sequence_policy="pad")
    pipeline.feed_input("videos", [content(video("h264.mp4"))] * 2)
    assert take(pipeline) == [list(range(20)), [*range(20, 30), *[-1] * 10]]
    assert len(take(pipeline)) == 2, "several videos may be fed at once"
    pipeline.close()


def test_fed_through_the_node(video: Video) -> None:
    with Pipeline(2, 1, None, prefetch_queue_depth=1) as pipeline:
        frames = fn.experimental.inputs.video(sequence_length=30)
        pipeline.set_outputs(fn.crop(frames, crop=(20, 30)))
    pipeline.feed_input(frames, [content(video("h264.mp4"))])
    (batch,) = pipeline.run()
    assert batch.shape() == [(30, 20, 30, 3)]
    pipeline.close()


def test_blocking_input_waits_for_a_video(video: Video) -> None:
    pipeline = make(sequence_length=30, blocking=True)
    feeder = threading.Timer(0.05, pipeline.feed_input, ("videos", [content(video("h264.mp4"))]))
    pipeline.build()
    feeder.start()
    assert take(pipeline) == [list(range(30))]
    feeder.join()
    pipeline.close()


def test_invalid_video_raises_and_the_next_one_follows(video: Video) -> None:
    pipeline = make(sequence_length=30)
    pipeline.feed_input("videos", [np.frombuffer(b"no video", np.uint8)])
    pipeline.feed_input("videos", [content(video("h264.mp4"))])
    with pytest.raises(SampleError, match=r"fn\.experimental\.inputs\.video"):
        pipeline.run()
    assert take(pipeline) == [list(range(30))]
    pipeline.close()


FedBytes = Callable[[], list[int]]


def _fed_videos() -> dict[int, int]:
    found = {}
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            if "dali_core fed video" in os.readlink(entry):
                status = entry.stat()
                found[status.st_ino] = status.st_size
    return found


@pytest.fixture
def fed_bytes() -> FedBytes:
    """Return a function that gives the size of each video that a test has put into memory."""
    of_others = set(_fed_videos())
    return lambda: [size for file, size in _fed_videos().items() if file not in of_others]


def test_finished_videos_leak_no_files_or_memory(
    video: Video, fed_bytes: FedBytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No leaks of files, index entries, or memory of finished videos."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("DALI_CORE_VIDEO_CACHE", str(tmp_path / "cache"))
    pipeline = make(sequence_length=15)
    pipeline.feed_input("videos", [content(video("h264.mp4"))] * 5)
    for _ in range(5):
        take(pipeline)
        assert sum(size > 0 for size in fed_bytes()) <= 2, "the next one may have begun"
        assert len(fed_bytes()) <= 3
    pipeline.close()
    assert not list(tmp_path.iterdir())


def test_memory_of_damaged_videos_is_released(video: Video, fed_bytes: FedBytes) -> None:
    damaged = content(video("h264.mp4")).copy()
    damaged[len(damaged) // 3 : 2 * len(damaged) // 3] = 0
    pipeline = make(sequence_length=15)
    pipeline.feed_input("videos", [damaged, np.frombuffer(b"no video", np.uint8)] * 3)
    for _ in range(6):
        with pytest.raises(SampleError, match=r"the file must be a sound video \(got \d+ bytes"):
            pipeline.run()
    assert not sum(fed_bytes())
    pipeline.close()


def test_sequences_that_a_chain_leaves_alone(video: Video, fed_bytes: FedBytes) -> None:
    """They are started twice, and count once."""
    with Pipeline(1, 1, None, prefetch_queue_depth=1) as pipeline:
        frames = fn.experimental.inputs.video(sequence_length=15)
        pipeline.set_outputs(fn.crop_mirror_normalize(frames, output_layout="CFHW"))
    pipeline.feed_input(frames, [content(video("h264.mp4"))])
    for _ in range(2):
        (batch,) = pipeline.run()
        assert batch.shape()[0][1] == 15
    assert not sum(fed_bytes())
    pipeline.close()


def test_closed_pipeline_leaks_no_files_or_memory(video: Video, fed_bytes: FedBytes) -> None:
    pipeline = make(1, sequence_length=5)
    pipeline.feed_input("videos", [content(video("h264.mp4"))] * 2)
    take(pipeline)
    assert sum(fed_bytes())
    pipeline.close()
    del pipeline
    gc.collect()
    assert not sum(fed_bytes())


def test_fed_videos_of_a_killed_program_are_removed(video: Video, tmp_path: Path) -> None:
    program = f"""
import os, signal, numpy as np
from dali_core import Pipeline, fn
with Pipeline(1, 1, None, prefetch_queue_depth=1) as pipeline:
    pipeline.set_outputs(fn.experimental.inputs.video(name="videos", sequence_length=5))
pipeline.feed_input("videos", [np.fromfile({str(video("h264.mp4"))!r}, np.uint8)])
pipeline.run()
os.kill(os.getpid(), signal.SIGKILL)
"""
    places = {"TMPDIR": str(tmp_path), "DALI_CORE_VIDEO_CACHE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | places,
        check=False,
        timeout=HANG_SECONDS,
    )
    assert done.returncode == -signal.SIGKILL
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "data",
    [np.zeros((1, 4), np.float32), np.zeros((1, 2, 2), np.uint8), np.zeros(0, np.uint8)],
    ids=["floats", "matrix", "nothing"],
)
def test_invalid_data_raise(data: np.ndarray) -> None:
    pipeline = make(sequence_length=2)
    with pytest.raises(ArgumentTypeError, match="a video must be an array of uint8"):
        pipeline.feed_input("videos", data)
    pipeline.close()


def test_invalid_arguments_raise() -> None:
    with pytest.raises(ArgumentValueError, match="sequence_length"):
        make(sequence_length=0)
    with pytest.raises(ArgumentValueError, match="last_sequence_policy"):
        make(sequence_length=1, last_sequence_policy="other")
    with pytest.raises(ArgumentFormError, match="0 inputs must be passed"), Pipeline(1, 1, None):
        fn.experimental.inputs.video(fn.constant(idata=[1]), sequence_length=1)
