"""`fn.decoders.video`: selected frames, and rejected arguments."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.readers.video_clips import numbers_of
from tests.operators.suite import Example, Input

Video: TypeAlias = Callable[[str], Path]
NAMES = ("h264.mp4", "vp8.webm", "hevc_open_gop.mkv", "mjpeg_422.mov")


@functools.cache
def content_of(name: str) -> bytes:
    """Return the bytes of a video that this process generates."""
    from tests.video_files import make

    with tempfile.TemporaryDirectory() as folder:
        return make(Path(folder), name).read_bytes()


def encoded(number: int) -> np.ndarray:
    """Return the bytes of one of several videos."""
    return np.frombuffer(content_of(NAMES[number % len(NAMES)]), np.uint8)


VIDEOS = (Input(encoded),)
EXAMPLES = [
    Example("range", VIDEOS, {"start_frame": 3, "sequence_length": 4, "stride": 2}),
    Example("frames", VIDEOS, {"frames": [29, 3, 3, 35], "pad_mode": "edge"}),
    Example("end", VIDEOS, {"end_frame": 2}),
]


def decode(names: Sequence[Path], **arguments: Any) -> list[np.ndarray]:
    data = [np.fromfile(name, np.uint8) for name in names]
    with Pipeline(len(data), 2, None, prefetch_queue_depth=1) as pipeline:
        source = fn.external_source(source=lambda: data)
        pipeline.set_outputs(fn.decoders.video(source, **arguments))
    try:
        (batch,) = pipeline.run()
        assert batch.layout() == "FHWC"
        return [np.array(batch.at(i)) for i in range(len(batch))]
    finally:
        pipeline.close()


@pytest.mark.parametrize(
    "name",
    ["h264_pyramid.mp4", "h264_late.mp4", "hevc_open_gop.mkv", "av1.mp4", "mpeg4_b.avi"],
)
def test_any_frames_in_any_order(video: Video, name: str) -> None:
    wanted = [17, 3, 3, 28, 0, 16]
    (frames,) = decode([video(name)], frames=wanted)
    assert numbers_of(frames) == wanted


def test_videos_of_several_kinds(video: Video) -> None:
    names = [video(name) for name in (*NAMES, "h264_quarter_turn.mp4")]
    found = decode(names, start_frame=2, sequence_length=3, stride=4)
    assert [numbers_of(frames) for frames in found[:4]] == [[2, 6, 10]] * 4
    assert found[4].shape == (3, 64, 48, 3), "frames are upright"


def test_all_frames(video: Video) -> None:
    (frames,) = decode([video("h264.mp4")])
    assert numbers_of(frames) == list(range(30))


def test_padding(video: Video) -> None:
    for mode, expected in {
        "none": [27, 29],
        "constant": [27, 29, -1, -1],
        "edge": [27, 29, 29, 29],
        "reflect_1001": [27, 29, 28, 26],
        "reflect_101": [27, 29, 27, 25],
    }.items():
        (frames,) = decode(
            [video("h264.mp4")], start_frame=27, sequence_length=4, stride=2, pad_mode=mode
        )
        assert numbers_of(frames) == expected
    (frames,) = decode([video("h264_one_frame.mp4")], sequence_length=3, pad_mode="reflect")
    assert numbers_of(frames) == [0, 0, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"frames": [30], "pad_mode": "none"}, r"frames must be from 0 to 29.*got 30"),
        ({"start_frame": 30}, r"start_frame must be below 30.*got 30"),
        ({"start_frame": -1, "pad_mode": "none"}, r"start_frame must not be below 0.*got -1"),
        ({"start_frame": 5, "end_frame": 5}, r"end_frame must be above start_frame, 5.*got 5"),
    ],
    ids=str,
)
def test_numbers_beyond_the_video(video: Video, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        decode([video("h264.mp4")], **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"frames": [1], "stride": 2}, "'frames' must not be given together"),
        (
            {"end_frame": 3, "sequence_length": 3},
            "'end_frame' must not be given together with 'sequence_length'",
        ),
        ({"stride": 0}, "stride"),
        ({"sequence_length": -1}, "sequence_length"),
        ({"fill_value": [1, 2]}, "fill_value must have one entry"),
    ],
    ids=str,
)
def test_invalid_arguments_raise(video: Video, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        decode([video("h264.mp4")], **arguments)


@pytest.mark.parametrize("data", [b"no video", b"\0" * 5000], ids=["text", "zeros"])
def test_no_video(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.mp4"
    path.write_bytes(data)
    with pytest.raises(SampleError, match=r"fn\.decoders\.video"):
        decode([path])


def test_truncated_video_raises(video: Video, tmp_path: Path) -> None:
    path = tmp_path / "a.mkv"
    whole = video("h264_open_gop.mkv").read_bytes()
    path.write_bytes(whole[: len(whole) * 2 // 3])
    try:
        (frames,) = decode([path])
    except SampleError:
        return
    found = numbers_of(frames)
    assert found == list(range(len(found))), "what is there, is complete"
