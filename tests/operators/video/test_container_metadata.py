"""Metadata of containers beside a display matrix: applied as PyAV does, or left alone by all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

pytest.importorskip("av", reason="not available: PyAV")

from dali_core import fn
from tests.operators.suite import pipeline
from tests.orientations import MATRICES, upright_of
from tests.video_files import Array, with_matrix

pytestmark = pytest.mark.usefixtures("video_worker")

Video: TypeAlias = Callable[[str], Path]
Change: TypeAlias = Callable[[bytes], bytes]


def read(path: Path) -> Array:
    with pipeline(batch_size=1) as made:
        made.set_outputs(fn.readers.video(filenames=[str(path)], sequence_length=4))
        return np.array(made.run()[0].at(0))


def box(name: bytes, *values: int) -> bytes:
    content = b"".join(value.to_bytes(4, "big") for value in values)
    return (8 + len(content)).to_bytes(4, "big") + name + content


def with_box(content: bytes, added: bytes) -> bytes:
    """Append a box to the description of the samples, in an MP4 file whose `moov` is the last."""
    changed = bytearray(content)
    moov = content.index(b"moov")
    assert moov > content.index(b"mdat")
    parents = [content.index(name, moov) - 4 for name in PARENTS]
    end = parents[-1] + int.from_bytes(content[parents[-1] : parents[-1] + 4], "big")
    for place in parents:
        size = int.from_bytes(content[place : place + 4], "big") + len(added)
        changed[place : place + 4] = size.to_bytes(4, "big")
    return bytes(changed[:end]) + added + bytes(changed[end:])


PARENTS = (b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd", b"avc1")
# ISO 14496-12, 12.1.4: the middle 40 x 30 pixels; pixels twice as wide as high.
CLEAN_APERTURE = box(b"clap", 40, 1, 30, 1, 0, 1, 0, 1)
PIXEL_ASPECT = box(b"pasp", 2, 1)


@pytest.mark.parametrize("added", [CLEAN_APERTURE, PIXEL_ASPECT], ids=["aperture", "aspect"])
def test_frames_are_as_large_as_they_are_coded(video: Video, tmp_path: Path, added: bytes) -> None:
    path = tmp_path / "changed.mp4"
    path.write_bytes(with_box(video("h264_no_b.mp4").read_bytes(), added))
    np.testing.assert_array_equal(read(path), read(video("h264_no_b.mp4")), strict=True)


def test_wrong_size_in_the_header(video: Video, tmp_path: Path) -> None:
    """The stream knows better than Matroska's PixelWidth."""
    content = video("vp9_uneven.mkv").read_bytes()
    assert content.count(b"\xb0\x81\x40") == 1
    path = tmp_path / "wider.mkv"
    path.write_bytes(content.replace(b"\xb0\x81\x40", b"\xb0\x81\x50"))
    np.testing.assert_array_equal(read(path), read(video("vp9_uneven.mkv")), strict=True)


@pytest.mark.parametrize(("movie", "track"), [(2, 1), (6, 1), (6, 6), (2, 6), (6, 2)])
def test_matrices_of_movie_and_track_are_combined(
    video: Video, tmp_path: Path, movie: int, track: int
) -> None:
    stored = video("h264_no_b.mp4")
    content = with_matrix(stored.read_bytes(), MATRICES[track])
    path = tmp_path / "both.mp4"
    path.write_bytes(with_matrix(content, MATRICES[movie], header=b"mvhd"))
    expected = [upright_of(upright_of(frame, track), movie) for frame in read(stored)]
    np.testing.assert_array_equal(read(path), np.stack(expected), strict=True)
