"""The videos of other tests are of many kinds, and PyAV returns every frame correctly."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("av", reason="not available: PyAV")

import av
import numpy as np

from tests.video_files import BY_NAME, RECIPES, Recipe, frames_of, number_of

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_every_frame_is_in_its_place(recipe: Recipe, video: Callable[[str], Path]) -> None:
    frames = frames_of(video(recipe.name))
    assert [number_of(frame.planes[0]) for frame in frames] == list(recipe.numbers)
    if not recipe.has_times:
        return
    times = recipe.milliseconds or [40 * i for i in range(recipe.num_frames)]
    shown = [(times[i] - times[recipe.numbers[0]]) / 1000 for i in recipe.numbers]
    assert [frame.seconds for frame in frames] == pytest.approx(shown, abs=1e-3)


@pytest.mark.parametrize("name", ["h264.mp4", "vp8.webm", "hevc_open_gop.mkv", "mjpeg_422.mov"])
def test_frames_do_not_depend_on_uninitialized_memory(
    name: str, video: Callable[[str], Path], tmp_path: Path
) -> None:
    path = tmp_path / name
    code = f"""
from pathlib import Path
from tests.video_files import BY_NAME, write
write(Path({str(path)!r}), BY_NAME[{name!r}])
"""
    environment = {**os.environ, "MALLOC_PERTURB_": "165"}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=True)
    for ours, theirs in zip(frames_of(path), frames_of(video(name)), strict=True):
        for mine, other in zip(ours.planes, theirs.planes, strict=True):
            np.testing.assert_array_equal(mine, other, strict=True)


def test_set_has_all_kinds(video: Callable[[str], Path]) -> None:
    assert len(RECIPES) >= 40
    codecs = set()
    for recipe in RECIPES:
        with av.open(str(video(recipe.name))) as container:
            codecs.add(container.streams.video[0].codec_context.codec.canonical_name)
    assert codecs == {"h264", "hevc", "vp8", "vp9", "av1", "mpeg4", "mjpeg"}
    everything = {name: frames_of(video(name)) for name in BY_NAME}
    assert {frames[0].orientation for frames in everything.values()} == set(range(1, 9))
    assert {frames[0].bits for frames in everything.values()} == {8, 10}
    assert {len(frames[0].planes) for frames in everything.values()} == {1, 3}
    distances = {
        name: [second.seconds - first.seconds for first, second in pairwise(frames)]
        for name, frames in everything.items()
        if len(frames) > 1 and BY_NAME[name].has_times
    }
    uneven = [name for name, steps in distances.items() if max(steps) > 2 * min(steps)]
    assert len(uneven) >= 8
    assert all(min(steps) > 0 for steps in distances.values())
    assert min(len(frames) for frames in everything.values()) == 1


def test_colours_are_those_that_were_drawn(video: Callable[[str], Path]) -> None:
    import numpy as np

    from tests.video_files import draw

    for name, matrix in (("vp9_444.mp4", 5), ("hevc_full_range.mp4", 1), ("h264_rgb.mp4", 5)):
        recipe = BY_NAME[name]
        for number, frame in enumerate(frames_of(video(name))):
            drawn = draw(number, *recipe.size)
            assert np.abs(frame.rgb(matrix) - drawn).mean() < 6
