"""Containers without a video stream: recordings of sound, which need not be damaged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("av", reason="not available: PyAV")

import av

from dali_core import fn
from dali_core.errors import SampleError
from dali_core.operators.video.frame_index import NoVideoStreamError, VideoError, open_indices
from tests.operators.suite import pipeline

pytestmark = pytest.mark.usefixtures("video_worker")

MESSAGE = (
    r"the file must have a video stream \(got .*: it has sound, and no video stream\)\. "
    r"Leave it out\."
)


ENCODERS = {"webm": "libopus", "mp4": "aac", "mkv": "aac", "wav": "pcm_s16le", "mp3": "libmp3lame"}


@pytest.fixture(params=ENCODERS)
def sound(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"sound.{request.param}"
    with av.open(str(path), "w") as output:
        stream: Any = output.add_stream(ENCODERS[request.param], rate=48000)
        samples = np.zeros((1, 9600), np.int16)
        frame = av.AudioFrame.from_ndarray(samples, format="s16", layout="mono")
        frame.sample_rate = 48000
        output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    return path


def of_bytes(path: Path) -> Any:
    return fn.decoders.video(fn.external_source(source=lambda _: [np.fromfile(path, np.uint8)]))


def fed(path: Path) -> Any:
    return fn.experimental.inputs.video(name="fed", sequence_length=2)


def read(path: Path) -> Any:
    return fn.readers.video(filenames=[str(path)], sequence_length=2)


def read_sequences(path: Path) -> Any:
    return fn.experimental.readers.video(filenames=[str(path)], sequence_length=2)


def resized(path: Path) -> Any:
    return fn.readers.video_resize(filenames=[str(path)], sequence_length=2, size=[8, 8])


@pytest.mark.parametrize("make", [of_bytes, fed, read, read_sequences, resized])
def test_operators_say_that_there_is_no_video(make: Callable[[Path], Any], sound: Path) -> None:
    with pipeline(batch_size=1) as made:
        made.set_outputs(make(sound))
        made.build()
        if make is fed:
            made.feed_input("fed", [np.fromfile(sound, np.uint8)])
        with pytest.raises(SampleError, match=MESSAGE) as caught:
            made.run()
    assert "sound video" not in str(caught.value)


def test_index_has_a_class_of_its_own(sound: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.mp4"
    damaged.write_bytes(b"no video")
    silent, broken = open_indices([sound, damaged])
    assert isinstance(silent, NoVideoStreamError)
    assert isinstance(broken, VideoError)
    assert not isinstance(broken, NoVideoStreamError)
