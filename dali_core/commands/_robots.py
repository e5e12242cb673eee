"""Costs of reading videos of robots' data sets at random, and frames that they lack."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dali_core._storage import STORAGE_ARGS, make_storage
from dali_core.errors import ArgumentValueError, MissingModuleError
from dali_core.operators.robots.cameras import Camera, indices_of, open_cameras
from dali_core.operators.robots.metadata import CameraEpisodes, Episodes, read_episodes, read_info

if TYPE_CHECKING:
    from dali_core.operators.video.frame_index import FrameIndex

_MANY = 8
"""Frames to decode for one: reading at random is slow from here on."""
_MOST_NAMED = 5


def remarks_on_robots(folder: str) -> Iterator[str]:
    """Say what a folder that is a LeRobot data set costs to read; nothing of other folders."""
    if not os.path.isfile(os.path.join(folder, "meta/info.json")):
        return
    defaults = {arg.name: arg.default for arg in STORAGE_ARGS}
    storage = make_storage(defaults)
    try:
        info = read_info(folder, storage)
        cameras = [name for name, each in info.features.items() if each.dtype == "video"]
        episodes = read_episodes(info, cameras, storage)
        settings = {**defaults, "tolerance_s": 0.0, "missing_frames": "error"}
        everything = np.arange(len(episodes.numbers))
        opened, _ = open_cameras(episodes, everything, info.fps, settings, storage)
    except (ArgumentValueError, MissingModuleError) as error:
        yield f"as a LeRobot data set: {error}"
        return
    yield (
        f"LeRobot {info.version}: {len(episodes.numbers)} episodes, {episodes.lengths.sum()} "
        f"frames, {len(cameras)} cameras"
    )
    for name in cameras:
        yield from _remarks(name, episodes.cameras[name], opened[name], episodes)


def _remarks(
    name: str, places: CameraEpisodes, camera: Camera, episodes: Episodes
) -> Iterator[str]:
    found = indices_of(places.files, progress=False)
    indices = [index for index in found if not isinstance(index, Exception)]
    if indices:
        lengths = np.concatenate([_groups(index) for index in indices])
        # A frame is decoded with all of its group before it.
        mean = float((lengths * (lengths + 1) / 2).sum() / lengths.sum())
        yield (
            f"{name}: key frames every {np.median(lengths):g} frames, at most {lengths.max()}; a "
            f"frame at random decodes {mean:.1f}"
        )
        if mean > _MANY:
            yield (
                f"{name}: encode the videos again with a key frame at every second frame (ffmpeg "
                "-g 2), or read episodes in pieces: samplers.Blocks"
            )
    lacking = np.flatnonzero(camera.num_missing(episodes.lengths))
    if len(lacking):
        named = ", ".join(map(str, episodes.numbers[lacking[:_MOST_NAMED]].tolist()))
        more = ", ..." if len(lacking) > _MOST_NAMED else ""
        yield (
            f"{name}: the videos of {len(lacking)} episodes lack frames ({named}{more}), whose "
            'samples are bad; missing_frames="nearest" takes the nearest ones'
        )


def _groups(index: FrameIndex) -> NDArray[np.int64]:
    """Return the lengths of the groups of frames that begin with key frames."""
    starts = index.keyframes.astype(np.int64)
    return np.asarray(np.diff(starts, append=index.num_frames), np.int64)
