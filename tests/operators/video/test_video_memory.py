"""Resource usage does not grow with the number of files."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("av", reason="not available: PyAV")

from benchmarks.video_memory import measure
from dali_core import Pipeline, fn
from dali_core.operators.video import backends


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
    pipeline.close()
    names = []
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            names.append(os.readlink(entry))
    assert 100 <= sum("dali_core video" in name for name in names) <= 128
