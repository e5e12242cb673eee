"""Every frame of every video, for any access pattern, is PyAV's of the same timestamp."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("av", reason="not available: PyAV")

from dali_core import fn
from tests.operators.video import frame_exact
from tests.operators.video.frame_exact import NAMES, Clip, decode, mistake, read, requests_of

pytestmark = pytest.mark.usefixtures("video_worker")


@pytest.fixture(scope="module")
def paths(video: Callable[[str], Path]) -> list[Path]:
    return [video(name) for name in NAMES]


@pytest.mark.parametrize(
    ("pattern", "num_threads"),
    [
        (frame_exact.everything, 4),
        (frame_exact.backwards, 1),
        (frame_exact.a_few_frames, 4),
        (frame_exact.across_key_frames, 1),
        (frame_exact.repeated, 4),
        (frame_exact.any_order, 4),
    ],
)
def test_decoder(pattern: frame_exact.Pattern, num_threads: int, paths: list[Path]) -> None:
    requests = requests_of(pattern, paths)
    clips = list(decode(requests, num_threads=num_threads))
    assert [(clip.path, clip.numbers) for clip in clips] == requests
    assert [text for text in map(mistake, clips) if text] == []


@pytest.mark.parametrize(
    ("reader", "num_threads", "arguments"),
    [
        (fn.readers.video, 4, {"sequence_length": 3, "stride": 4, "step": 5}),
        (fn.experimental.readers.video, 1, {"sequence_length": 1}),
        (
            fn.experimental.readers.video,
            4,
            {"sequence_length": 8, "stride": 2, "step": 9, "random_shuffle": True},
        ),
    ],
    ids=["strides", "sequential", "shuffled"],
)
def test_readers(
    reader: Callable[..., Any], num_threads: int, arguments: dict[str, Any], paths: list[Path]
) -> None:
    clips = list(read(reader, paths, num_threads=num_threads, **arguments))
    assert len(clips) > 100
    assert len({clip.path for clip in clips}) > 50
    assert [text for text in map(mistake, clips) if text] == []


def test_wrong_frames_are_detected(video: Callable[[str], Path]) -> None:
    """The comparison itself: another frame, another timestamp, a missing frame."""
    path = video("h264_quarter_turn.mp4")
    (clip,) = decode([(path, [3, 4])], num_threads=1)
    assert mistake(clip) == ""
    assert "says that it is frame 3" in mistake(clip._replace(numbers=[2, 4]))
    assert "there are 2" in mistake(clip._replace(numbers=[3]))
    assert "times" in mistake(Clip(path, [3], clip.frames[:1], [0.16]))
