"""Where the samples of chroma lie: pictures of every size, subsampling, range and matrix.

FFmpeg and NVIDIA DALI spread the samples evenly over a picture. In pictures of even sizes that is
the centre of the pixels which share a sample; in others the last sample has fewer pixels.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

pytest.importorskip("av", reason="not available: PyAV")

import av
from av.video.reformatter import VideoReformatter

from dali_core import fn
from tests.operators.suite import pipeline
from tests.video_files import Array, frames_of

SUBSAMPLINGS = ("410", "411", "420", "422", "440", "444")
WIDTHS, HEIGHTS = (1, 2, 34, 35, 36, 37), (1, 2, 20, 21, 22, 23)
MATRICES = {"bt601": 5, "bt709": 1}


class Picture(NamedTuple):
    """A video of one picture."""

    path: Path
    full_range: bool
    size: tuple[int, int]  # height and width


def write(path: Path, pixels: str, width: int, height: int, *, full_range: bool) -> None:
    values = np.random.default_rng([width, height, full_range])
    frame = av.VideoFrame(width, height, pixels)
    for plane in frame.planes:
        plane.update(values.integers(40, 200, plane.buffer_size, dtype=np.uint8).tobytes())
    with av.open(str(path), "w") as output:
        stream: Any = output.add_stream("ffv1", rate=25, options={"level": "1"})
        stream.width, stream.height, stream.pix_fmt = width, height, pixels
        stream.codec_context.color_range = 2 if full_range else 1
        frame.pts = 0
        output.mux(stream.encode(frame))
        output.mux(stream.encode(None))


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> list[Picture]:
    folder = tmp_path_factory.mktemp("chroma")
    made = []
    for kind, width, height in itertools.product(SUBSAMPLINGS, WIDTHS, HEIGHTS):
        full_range = (width + height) % 3 == 0
        path = folder / f"{kind}_{width}_{height}.mkv"
        write(path, f"yuv{kind}p", width, height, full_range=full_range)
        made.append(Picture(path, full_range, (height, width)))
    return made


def read(pictures: list[Picture], matrix: str) -> list[Array]:
    with pipeline(batch_size=len(pictures)) as made:
        paths = [str(picture.path) for picture in pictures]
        reader = fn.experimental.readers.video
        made.set_outputs(reader(filenames=paths, sequence_length=1, color_matrix=matrix))
        return [np.array(sample)[0] for sample in made.run()[0]]


@pytest.mark.parametrize("matrix", MATRICES)
def test_formula(pictures: list[Picture], matrix: str) -> None:
    for picture, found in zip(pictures, read(pictures, matrix), strict=True):
        exact = frames_of(picture.path)[0].rgb(MATRICES[matrix])
        assert found.shape == (*picture.size, 3)
        assert np.abs(found - exact).max() <= 0.51, picture.path.name


@pytest.mark.parametrize("matrix", MATRICES)
def test_bilinear_scaling_of_ffmpeg(pictures: list[Picture], matrix: str) -> None:
    """For even widths or heights, FFmpeg has faster ways that repeat samples of chroma."""
    odd = [picture for picture in pictures if picture.size[0] % 2 and picture.size[1] % 2]
    for picture, found in zip(odd, read(odd, matrix), strict=True):
        with av.open(str(picture.path)) as container:
            frame = next(container.decode(video=0))
        expected = VideoReformatter().reformat(
            frame,
            format="rgb24",
            interpolation="BILINEAR",
            src_colorspace={"bt601": "ITU601", "bt709": "ITU709"}[matrix],
            src_color_range="JPEG" if picture.full_range else "MPEG",
        )
        difference = np.abs(found.astype(int) - expected.to_ndarray())
        assert difference.max() <= 2, picture.path.name
