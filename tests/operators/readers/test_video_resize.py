"""`fn.readers.video_resize`: the frames of `fn.readers.video`, resized as by `fn.resize`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from dali_core import Pipeline, fn, types
from tests.operators.readers.video_clips import videos_in
from tests.operators.suite import Example

pytest.importorskip("av", reason="not available: PyAV")

Video: TypeAlias = Callable[[str], Path]


def sizes(folder: Path) -> dict[str, Any]:
    return videos_in(folder, "vp8.webm", "h264.mp4") | {
        "sequence_length": 3,
        "size": [21.0, 30.0],
        "interp_type": types.INTERP_CUBIC,
        "min_filter": types.INTERP_TRIANGULAR,
        "mag_filter": types.INTERP_LINEAR,
        "roi_start": [3.0, 4.0],
        "roi_end": [40.0, 50.0],
    }


def axes(folder: Path) -> dict[str, Any]:
    return videos_in(folder, "vp8.webm") | {
        "sequence_length": 2,
        "resize_x": 70.0,
        "resize_y": 31.0,
        "resize_z": 0.0,
    }


def shorter(folder: Path) -> dict[str, Any]:
    return videos_in(folder, "vp8.webm") | {"sequence_length": 2, "resize_shorter": 17.0}


def longer(folder: Path) -> dict[str, Any]:
    return videos_in(folder, "vp8.webm") | {"sequence_length": 2, "resize_longer": 33.0}


EXAMPLES = [
    Example("sizes", (), sizes),
    Example("axes", (), axes),
    Example("shorter", (), shorter),
    Example("longer", (), longer),
]


@pytest.mark.parametrize(
    "arguments",
    [
        {"size": [30, 41]},
        {"resize_shorter": 100.0, "interp_type": types.INTERP_CUBIC},
        {"resize_x": 33.0, "antialias": False},
        {"size": [40, 40], "mode": "not_larger"},
        {"size": [21, 30], "roi_start": [0.2, 0.1], "roi_end": [0.7, 0.9], "roi_relative": True},
        {"resize_y": 19.5, "subpixel_scale": False, "image_type": types.GRAY},
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [types.UINT8, types.FLOAT])
def test_equals_reader_followed_by_resize(
    video: Video, arguments: dict[str, Any], dtype: Any
) -> None:
    files: dict[str, Any] = {
        "filenames": [str(video("vp8.webm")), str(video("h264_half_turn.mov"))],
        "labels": [1, 2],
        "sequence_length": 10,
        "enable_timestamps": True,
    }
    colours = {name: arguments[name] for name in ("image_type",) if name in arguments}
    resizing = {name: value for name, value in arguments.items() if name not in colours}
    with Pipeline(6, 2, None) as pipeline:
        both = fn.readers.video_resize(dtype=dtype, **files, **arguments)
        frames, *others = fn.readers.video(**files, **colours)
        pipeline.set_outputs(*both, fn.resize(frames, dtype=dtype, **resizing), *others)
    ours, labels, times, expected, *others = pipeline.run()
    assert ours.layout() == "FHWC"
    for sample in range(6):
        np.testing.assert_array_equal(ours.at(sample), expected.at(sample), strict=True)
        np.testing.assert_array_equal(labels.at(sample), others[0].at(sample))
        np.testing.assert_array_equal(times.at(sample), others[1].at(sample))
    pipeline.close()


def test_normalized(video: Video) -> None:
    arguments: dict[str, Any] = {
        "filenames": str(video("vp8.webm")),
        "sequence_length": 3,
        "size": [30, 20],
        "dtype": types.FLOAT,
    }
    with Pipeline(1, 1, None) as pipeline:
        pipeline.set_outputs(
            fn.readers.video_resize(normalized=True, **arguments),
            fn.readers.video_resize(**arguments),
        )
    ours, expected = pipeline.run()
    np.testing.assert_allclose(ours.at(0), np.array(expected.at(0)) / 255, rtol=1e-5)
    pipeline.close()
