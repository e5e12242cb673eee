"""`fn.readers.video`: where it differs from `fn.experimental.readers.video`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from dali_core import fn, types
from dali_core.errors import ArgumentValueError
from tests.operators.readers.video_clips import numbers, reader_pipeline, videos_in
from tests.operators.readers.video_clips import read as read_with
from tests.operators.suite import Example

pytest.importorskip("av", reason="not available: PyAV")

Video: TypeAlias = Callable[[str], Path]


def clips(folder: Path) -> dict[str, Any]:
    return videos_in(folder, "vp8.webm", "h264.mp4") | {
        "sequence_length": 5,
        "stride": 2,
        "pad_sequences": True,
        "labels": [],
        "enable_frame_num": True,
    }


def floats(folder: Path) -> dict[str, Any]:
    return videos_in(folder, "vp8.webm") | {
        "sequence_length": 3,
        "dtype": types.FLOAT,
        "normalized": True,
    }


EXAMPLES = [Example("clips", (), clips), Example("floats", (), floats)]


def read(**arguments: Any) -> list[Any]:
    return read_with(fn.readers.video, **arguments)


def test_clip_decodes_only_its_own_frames(video: Video) -> None:
    name = str(video("h264.mp4"))
    assert numbers(read(filenames=name, sequence_length=2, stride=29)) == [[0, 29]]
    assert numbers(read(filenames=name, sequence_length=3, stride=10, step=4)) == [
        [i, i + 10, i + 20] for i in (0, 4, 8)
    ]


def test_padding(video: Video) -> None:
    found = read(
        filenames=str(video("h264.mp4")),
        sequence_length=20,
        pad_sequences=True,
        labels=[4],
        enable_frame_num="sequence",
        enable_timestamps=True,
    )
    expected = [*range(20, 30), *[-1] * 10]
    assert found[1].numbers == found[1].others[1] == expected
    assert found[1].others[2][10:] == [-1.0] * 10
    assert found[1].others[0] == [4]
    assert len(read(filenames=str(video("h264.mp4")), sequence_length=20)) == 1


def test_labels(video: Video) -> None:
    names = [str(video(name)) for name in ("h264.mp4", "h264.mp4", "vp8.webm")]
    found = read(filenames=names, sequence_length=30, labels=[])
    assert [clip.others for clip in found] == [[[0]], [[1]], [[2]]]


@pytest.mark.parametrize(
    ("ends", "preceding", "expected"),
    [
        ("0.13 0.47", False, (4, 11)),
        ("0.13 0.47", True, (3, 12)),
        ("0.12 0.48", False, (3, 12)),
        ("0.12 0.48", True, (3, 12)),
        ("1.0 7", False, (25, 30)),
        ("1.1", False, (28, 30)),
        ("-0.2", False, (25, 30)),
        ("0 -0.2", False, (0, 25)),
        ("-1 -0.33", False, (5, 21)),
        ("-0.99 -0.33", True, (5, 22)),
        ("0.4 -0.4", False, (10, 20)),
        ("-7 -0.2", True, (0, 25)),
    ],
)
def test_lists_of_times(
    video: Video, tmp_path: Path, ends: str, preceding: bool, expected: tuple[int, int]
) -> None:
    path = tmp_path / "list.txt"
    path.write_text(f"{video('h264.mp4')} 3 {ends}")
    found = read(
        file_list=str(path), sequence_length=1, file_list_include_preceding_frame=preceding
    )
    assert numbers(found) == [[i] for i in range(*expected)]
    assert found[0].others == [[3]]


def test_lists_of_frames(video: Video, tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text(f"{video('h264.mp4')} 3 4.5 9.5\n{video('h264.mp4')} 4 -3 -1")
    found = read(file_list=str(path), sequence_length=1, file_list_frame_num=True)
    assert numbers(found) == [[i] for i in (5, 6, 7, 8, 27, 28)]


def test_floats(video: Video) -> None:
    def first(**arguments: Any) -> np.ndarray:
        pipeline = reader_pipeline(
            fn.readers.video, filenames=str(video("vp8.webm")), sequence_length=2, **arguments
        )
        (frames,) = pipeline.run()
        assert frames.layout() == "FHWC"
        pipeline.close()
        return np.array(frames.at(0))

    expected = first().astype(np.float32)
    np.testing.assert_array_equal(first(dtype=types.FLOAT), expected, strict=True)
    scaled = first(dtype=types.FLOAT, normalized=True)
    np.testing.assert_allclose(scaled, expected / 255, rtol=1e-6)


def test_variable_frame_rate_is_accepted(video: Video) -> None:
    found = read(filenames=str(video("h264_uneven.mp4")), sequence_length=10)
    assert [clip.numbers[0] for clip in found] == [0, 10, 20]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dtype": types.INT32}, r"dtype must be UINT8 or FLOAT \(got INT32\)"),
        ({"normalized": True}, "normalized needs dtype=FLOAT"),
        ({"sequence_length": 0}, "sequence_length"),
        ({"stride": 0}, "stride"),
    ],
    ids=str,
)
def test_invalid_arguments_raise(video: Video, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        read(**({"filenames": str(video("vp8.webm")), "sequence_length": 3} | arguments))
