"""Resource usage does not grow with the number of files."""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("av", reason="not available: PyAV")

from benchmarks.video_memory import measure
from dali_core import Pipeline, fn
from dali_core.operators.video import backends
from tests.waiting import wait_until


def test_many_files(
    video: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(backends.CACHE_VARIABLE, "")
    originals = [video("h264.mp4"), video("vp9.webm")]
    first, *_, last = measure(originals, tmp_path, num_files=60, num_clips=480, every=160)
    # A second process may start late; each keeps eight videos open.
    more = last.processes - first.processes
    assert 0 <= more <= 2
    assert last.files <= first.files + 16 + 40 * more
    assert last.memory < first.memory + ((64 + 128 * more) << 20)


def test_videos_in_memory_are_bounded(video: Callable[[str], Path]) -> None:
    """Each uses a file descriptor, which are limited."""
    content = np.fromfile(video("h264_one_frame.mp4"), np.uint8)
    numbers = itertools.count()

    def next_one() -> list[np.ndarray]:
        own = np.frombuffer(next(numbers).to_bytes(8, "little"), np.uint8)
        return [np.concatenate([content, own])]

    with Pipeline(1, 1, None) as pipeline:
        pipeline.set_outputs(fn.decoders.video(fn.external_source(source=next_one)))
    for _ in range(140):
        pipeline.run()
    # The next one may be on its way.
    wait_until(lambda: 100 <= len(in_memory("dali_core video")) <= 128)
    pipeline.close()


def in_memory(name: str) -> list[int]:
    """Return the bytes that each open file in memory of a name takes."""
    found = []
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            if name in os.readlink(entry):
                found.append(entry.stat().st_blocks * 512)
    return found


@pytest.mark.usefixtures("video_worker")
def test_closing_releases_videos_in_memory(video: Callable[[str], Path]) -> None:
    content = np.fromfile(video("h264.mp4"), np.uint8)
    numbers = itertools.count()

    def videos(_: Any) -> list[np.ndarray]:
        size = 1 << 20
        return [np.concatenate([content, np.full(size, next(numbers), np.uint8)]) for _ in range(3)]

    def decoding(source: Callable[[Any], list[np.ndarray]]) -> Pipeline:
        with Pipeline(3, 2, None, prefetch_queue_depth=1) as pipeline:
            encoded = fn.external_source(source=source)
            pipeline.set_outputs(fn.decoders.video(encoded, end_frame=4))
        pipeline.build()
        return pipeline

    gc.collect()
    assert in_memory("dali_core video") == []
    kept = videos(None)
    first, second = decoding(lambda _: kept), decoding(videos)
    expected = np.array(first.run()[0].at(0))
    for _ in range(3):
        second.run()
    assert sum(in_memory("dali_core video")) > 10 << 20
    second.close()
    # Those that the other one has asked for stay known.
    assert len(in_memory("dali_core video")) == 3
    np.testing.assert_array_equal(np.array(first.run()[0].at(0)), expected)
    first.close()
    assert in_memory("dali_core video") == []
    assert sum(in_memory("dali_core frames")) == 0
    again = decoding(lambda _: kept)
    np.testing.assert_array_equal(np.array(again.run()[0].at(0)), expected)
    again.close()
