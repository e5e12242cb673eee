"""Frames are prefetched and skipped between requests, without a change of the results."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("av", reason="not available: PyAV")

from dali_core import Pipeline, fn
from dali_core.errors import SampleError
from dali_core.operators.video import backends
from dali_core.operators.video.worker import decoder
from dali_core.operators.video.worker.decoder import Decoder
from dali_core.operators.video.worker.demuxing import VideoFileError, build_index
from dali_core.operators.video.worker.packed_index import MAY_SKIP
from tests.operators.video.frame_exact import mistake, read
from tests.video_files import Array, frames_of

MANY_KINDS = (
    *("h264.mp4", "h264_open_gop.mkv", "h264_intra_refresh.mp4", "h264_edit_list.mp4"),
    *("hevc_open_gop.mkv", "vp9_hidden_frames.webm", "mpeg4_b.avi", "h264_b.avi", "vp8.webm"),
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(backends.CACHE_VARIABLE, str(tmp_path / "cache"))


def luma(frame: Any) -> Array:
    plane = frame.planes[0]
    rows = np.frombuffer(plane, np.uint8).reshape(plane.height, plane.line_size)
    return rows[:, : plane.width].copy()


def opened(path: Path, *, may_skip: bool = True) -> Decoder:
    index = build_index(str(path))
    if not may_skip:
        index.flags &= ~MAY_SKIP
    return Decoder(str(path), index, 1)


def decoded(
    video: Decoder, wanted: Sequence[int], *, is_sequential: bool = True
) -> list[tuple[int, Array]]:
    found: list[tuple[int, Array]] = []
    video.frames(
        wanted,
        lambda number, frame: found.append((number, luma(frame))),
        is_sequential=is_sequential,
    )
    return found


def assert_frames(found: list[tuple[int, Array]], path: Path, wanted: Sequence[int]) -> None:
    assert [number for number, _ in found] == list(wanted)
    for number, frame in found:
        np.testing.assert_array_equal(frame, frames_of(path)[number].planes[0])


@pytest.mark.parametrize("name", MANY_KINDS)
def test_frames_are_exact(name: str, video: Callable[[str], Path]) -> None:
    """In order with prefetched frames, with seeks in between."""
    path = video(name)
    count = len(frames_of(path))
    one = opened(path)
    chance = random.Random(1)
    for first in range(0, count, 5):
        wanted = range(first, min(first + 5, count))
        assert_frames(decoded(one, wanted), path, wanted)
        for _ in range(chance.choice((0, 3, 100))):
            if not one.read_ahead():
                break
        if first == 15:
            start = chance.randrange(count - 4)
            wanted = range(start, start + 4, 2)
            assert_frames(decoded(one, wanted), path, wanted)
    one.close()


@pytest.mark.parametrize("name", ["h264.mp4", "vp9.webm"])
def test_memory_is_bounded(
    name: str, video: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoder, "_BYTES_READ_AHEAD", 0)
    path = video(name)
    one = opened(path)
    for first in range(0, 24, 4):
        wanted = range(first, first + 4)
        assert_frames(decoded(one, wanted), path, wanted)
        while one.read_ahead():
            pass
        assert one.num_waiting == 4
    monkeypatch.setattr(decoder, "_BYTES_READ_AHEAD", 1 << 30)
    monkeypatch.setattr(decoder, "_MAX_AHEAD", 7)
    one = opened(path)
    decoded(one, range(4))
    while one.read_ahead():
        pass
    assert one.num_waiting == 7


@pytest.mark.parametrize(
    ("requests", "is_sequential"),
    [
        ([range(4)], False),
        ([range(8, 12)], True),
        ([range(0, 8, 2)], True),
        ([range(4), range(6, 10)], True),
    ],
    ids=["random", "elsewhere", "strided", "gaps"],
)
def test_only_in_order(
    requests: list[range], is_sequential: bool, video: Callable[[str], Path]
) -> None:
    """Only frames that are likely to be requested are prefetched."""
    one = opened(video("h264.mp4"))
    for wanted in requests:
        decoded(one, wanted, is_sequential=is_sequential)
    assert not one.may_read_ahead()
    assert not one.read_ahead()


@pytest.mark.parametrize("name", [*MANY_KINDS, "hevc.mp4", "h264_no_b.mp4", "h264_pyramid.mp4"])
def test_skipped_frames_change_nothing(name: str, video: Callable[[str], Path]) -> None:
    path = video(name)
    count = len(frames_of(path))
    for is_sequential in (False, True):
        skipping, whole = opened(path), opened(path, may_skip=False)
        chance = random.Random(2)
        for _ in range(12):
            start, stride = chance.randrange(count - 6), chance.choice((2, 3, 5))
            wanted = range(start, min(start + 4 * stride, count), stride)
            found = decoded(skipping, wanted, is_sequential=is_sequential)
            assert_frames(found, path, wanted)
            for (_, one), (_, other) in zip(
                found, decoded(whole, wanted, is_sequential=is_sequential), strict=True
            ):
                np.testing.assert_array_equal(one, other)


def test_damage_ahead(damaged: Path) -> None:
    one = opened(damaged)
    for first in range(0, 24, 4):
        decoded(one, range(first, first + 4))
    assert one.read_ahead()
    with pytest.raises(VideoFileError, match="packet 2[56] cannot be decoded"):
        any(not one.read_ahead() for _ in range(30))


def test_damage_ahead_is_of_the_clip_that_needs_it(
    damaged: Path, video: Callable[[str], Path]
) -> None:
    def clips() -> Iterator[Array]:
        pipeline = Pipeline(1, 1, None)
        with pipeline:
            pipeline.set_outputs(
                fn.experimental.readers.video(filenames=[str(damaged)], sequence_length=4)
            )
        while True:
            (batch,) = pipeline.run()
            yield np.array(batch.at(0))

    given = clips()
    found = [next(given) for _ in range(6)]
    with pytest.raises(SampleError, match="damaged.mp4"):
        next(given)
    sound = [frame.rgb() for frame in frames_of(video("h264_no_b.mp4"))[:24]]
    assert np.abs(np.concatenate(found).astype(int) - np.array(sound).astype(int)).max() <= 1


@pytest.mark.parametrize("num_threads", [1, 3])
def test_readers_in_order(num_threads: int, video: Callable[[str], Path]) -> None:
    paths = [video(name) for name in MANY_KINDS]
    clips = list(
        read(
            fn.experimental.readers.video, paths, num_threads=num_threads, sequence_length=4, step=4
        )
    )
    assert len(clips) > 5 * len(paths)
    assert [text for text in map(mistake, clips) if text] == []
