"""Videos whose container asks for turned or mirrored pictures, as front cameras write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

pytest.importorskip("av", reason="not available: PyAV")

import av

from dali_core import fn
from dali_core.operators.video.frame_index import FrameIndex, open_indices
from dali_core.operators.video.worker.demuxing import orientation_of
from tests.operators.suite import pipeline
from tests.orientations import MATRICES, upright_of
from tests.video_files import Array, with_matrix

pytestmark = pytest.mark.usefixtures("video_worker")

Video: TypeAlias = Callable[[str], Path]


@pytest.fixture
def stored(video: Video) -> Path:
    return video("h264_no_b.mp4")


def turned(folder: Path, stored: Path, values: Sequence[float]) -> Path:
    path = folder / f"{'_'.join(map(str, values))}.mp4"
    path.write_bytes(with_matrix(stored.read_bytes(), values))
    return path


def read(path: Path, change: Callable[[Any], Any] = lambda frames: frames) -> Array:
    """Return four frames of a file."""
    with pipeline(batch_size=1) as made:
        made.set_outputs(change(fn.readers.video(filenames=[str(path)], sequence_length=4)))
        return np.array(made.run()[0].at(0))


def index_of(path: Path) -> FrameIndex:
    (index,) = open_indices([path])
    assert isinstance(index, FrameIndex), index
    return index


def shown(frames: Array, orientation: int) -> Array:
    return np.stack([upright_of(frame, orientation) for frame in frames])


@pytest.mark.parametrize("orientation", range(1, 9))
def test_readers_and_decoders_give_upright_frames(
    stored: Path, tmp_path: Path, orientation: int
) -> None:
    path = turned(tmp_path, stored, MATRICES[orientation])
    expected = shown(read(stored), orientation)
    np.testing.assert_array_equal(read(path), expected, strict=True)

    cropped = read(path, lambda frames: fn.crop(frames, crop=(17, 23), crop_pos_x=0.3))
    with pipeline(batch_size=1) as made:
        encoded = fn.external_source(source=lambda _: [np.fromfile(path, np.uint8)])
        upright = fn.external_source(source=lambda _: [expected], layout="FHWC")
        made.set_outputs(
            fn.decoders.video(encoded, end_frame=4),
            fn.crop(upright, crop=(17, 23), crop_pos_x=0.3),
            fn.resize(upright, size=(21, 34)),
            fn.readers.video_resize(filenames=[str(path)], sequence_length=4, size=(21, 34)),
            fn.experimental.readers.video(filenames=[str(path)], sequence_length=4),
        )
        decoded, of_crop, of_resize, resized, sequence = (
            np.array(batch.at(0)) for batch in made.run()
        )
    np.testing.assert_array_equal(decoded, expected, strict=True)
    np.testing.assert_array_equal(sequence, expected, strict=True)
    np.testing.assert_array_equal(cropped, of_crop, strict=True)
    np.testing.assert_array_equal(resized, of_resize, strict=True)

    with pipeline(batch_size=1) as made:
        made.set_outputs(fn.experimental.inputs.video(name="fed", sequence_length=4))
        made.feed_input("fed", [np.fromfile(path, np.uint8)])
        np.testing.assert_array_equal(np.array(made.run()[0].at(0)), expected, strict=True)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_index_has_the_size_of_upright_frames(
    stored: Path, tmp_path: Path, orientation: int
) -> None:
    index = index_of(turned(tmp_path, stored, MATRICES[orientation]))
    assert index.orientation == orientation
    assert (index.width, index.height) == ((64, 48) if orientation < 5 else (48, 64))


SCALED = {(2, 0, 0, 0.5): 1, (0, -0.25, 3, 0): 8, (-7, 0, 0, 7): 2, (0, 0.5, 0.5, 0): 5}
NEARLY = {(1, 0.008, -0.008, 1): 1, (-1, 0.005, 0.005, 1): 2, (0.004, 1, 1, -0.004): 5}
OTHERS = (
    *((0.7071, 0.7071, -0.7071, 0.7071), (1, 0.02, -0.02, 1), (-0.98, 0.2, 0.2, 0.98)),
    *((0, 0, 0, 0), (1, 0, 1, 0), (0, 1, 0, 1), (0, 0, 0, 1), (1, 1, 1, 1)),
    *((32767, -32768, 32767, 32767), (-32768, -32768, -32768, -32768)),
)


@pytest.mark.parametrize("values", [*SCALED, *NEARLY, *OTHERS], ids=str)
def test_matrices_that_are_not_one_of_the_eight(
    stored: Path, tmp_path: Path, values: tuple[float, ...]
) -> None:
    """Sizes of a matrix, and less than half a degree, do not count; other angles mean nothing."""
    orientation = (SCALED | NEARLY).get(values, 1)
    path = turned(tmp_path, stored, values)
    assert index_of(path).orientation == orientation
    np.testing.assert_array_equal(read(path), shown(read(stored), orientation), strict=True)


@pytest.mark.parametrize("orientation", [3, 6, 8])
def test_matroska_with_a_rotation(stored: Path, tmp_path: Path, orientation: int) -> None:
    source, path = turned(tmp_path, stored, MATRICES[orientation]), tmp_path / "turned.mkv"
    with av.open(str(source)) as container, av.open(str(path), "w") as output:
        stream = output.add_stream_from_template(container.streams.video[0])
        for packet in container.demux(video=0):
            if packet.size:
                packet.stream = stream
                output.mux(packet)
    np.testing.assert_array_equal(read(path), shown(read(stored), orientation), strict=True)


def test_damaged_first_frame(stored: Path, tmp_path: Path) -> None:
    """The size is known though no frame can be decoded, and the file is a bad sample as others."""
    content = with_matrix(stored.read_bytes(), MATRICES[6])
    with av.open(str(stored)) as container:
        packets = [packet for packet in container.demux(video=0) if packet.size]
    damaged = bytearray(content)
    for packet in packets:
        assert packet.pos is not None
        damaged[packet.pos + 5 : packet.pos + packet.size] = b"\xff" * (packet.size - 5)
    path = tmp_path / "damaged.mp4"
    path.write_bytes(damaged)
    index = index_of(path)
    assert (index.orientation, index.width, index.height) == (6, 48, 64)


def test_orientation_of_a_matrix() -> None:
    for orientation, (a, b, c, d) in MATRICES.items():
        for scale in (1, 1 << 16, (1 << 31) - 1):
            assert orientation_of((scale * a, scale * b, 0, scale * c, scale * d)) == orientation
    assert orientation_of((0,) * 9) == 1
