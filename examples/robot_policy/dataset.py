"""Demonstrations of the teacher as a data set of LeRobot, v2.1, with two cameras."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .scene import CAMERAS, FPS, SIDE, Image, expert, move, picture, start

_STEPS = 30
_MARK = "demonstrations.json"


def generate(folder: Path, episodes: int, seed: int) -> Path:
    """Write demonstrations, unless they are there.

    Raises
    ------
    FileExistsError
        If the folder has something else.
    """
    mark = json.dumps({"episodes": episodes, "seed": seed})
    if (folder / _MARK).exists() and (folder / _MARK).read_text("utf-8") == mark:
        return folder
    if folder.exists():
        raise FileExistsError(f"{folder} has other files. Remove it, or choose another folder.")
    random = np.random.default_rng(seed)
    lengths: list[int] = []
    for episode in range(episodes):
        states, actions, pictures = _demonstration(random)
        _write_rows(folder, episode, sum(lengths), states, actions)
        for camera in CAMERAS:
            _write_video(folder / _VIDEO.format(camera, episode), pictures[camera])
        lengths.append(len(states))
    _write_metadata(folder, lengths)
    (folder / _MARK).write_text(mark, "utf-8")
    return folder


_DATA = "data/chunk-000/episode_{:06d}.parquet"
_VIDEO = "videos/chunk-000/{}/episode_{:06d}.mp4"


def _demonstration(random: np.random.Generator) -> tuple[list[Any], list[Any], dict[str, Any]]:
    gripper, cube = start(random)
    states, actions = [], []
    pictures: dict[str, list[Image]] = {camera: [] for camera in CAMERAS}
    for _ in range(_STEPS):
        action = expert(gripper, cube)
        states.append(gripper.tolist())
        actions.append(action.tolist())
        for camera, images in pictures.items():
            images.append(picture(gripper, cube, camera))
        # The teacher's hand shakes: the data show how to come back.
        shaking = random.normal(0, 0.02, 3).astype(np.float32)
        gripper = move(gripper, action + shaking)
    return states, actions, pictures


def _write_rows(
    folder: Path, episode: int, first: int, states: Sequence[Any], actions: Sequence[Any]
) -> None:
    count = len(states)
    vector = pa.list_(pa.float32(), 3)
    path = folder / _DATA.format(episode)
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = {
        "observation.state": pa.array(states, vector),
        "action": pa.array(actions, vector),
        "timestamp": pa.array(np.arange(count, dtype=np.float32) / FPS),
        "frame_index": pa.array(range(count), pa.int64()),
        "episode_index": pa.array([episode] * count, pa.int64()),
        "index": pa.array(range(first, first + count), pa.int64()),
        "task_index": pa.array([0] * count, pa.int64()),
    }
    pq.write_table(pa.table(columns), path)


def _write_video(path: Path, images: Sequence[Image]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as output:
        stream = output.add_stream("libx264", rate=FPS)
        stream.width = stream.height = SIDE
        stream.pix_fmt = "yuv420p"
        stream.codec_context.gop_size = 2  # as LeRobot does, for random access
        for number, image in enumerate(images):
            frame = av.VideoFrame.from_ndarray(image, format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, FPS)
            output.mux(stream.encode(frame))
        output.mux(stream.encode())


def _write_metadata(folder: Path, lengths: Sequence[int]) -> None:
    vector = {"dtype": "float32", "shape": [3], "names": ["x", "y", "z"]}
    camera = {"dtype": "video", "shape": [SIDE, SIDE, 3], "names": ["height", "width", "channels"]}
    info = {
        "codebase_version": "v2.1",
        "fps": FPS,
        "chunks_size": 1000,
        "total_episodes": len(lengths),
        "total_frames": sum(lengths),
        "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
        "video_path": "videos/chunk-{episode_chunk:03d}/{video_key}/"
        "episode_{episode_index:06d}.mp4",
        "features": {
            "observation.state": vector,
            "action": vector,
            **dict.fromkeys(CAMERAS, camera),
        },
    }
    meta = folder / "meta"
    meta.mkdir(parents=True, exist_ok=True)
    (meta / "info.json").write_text(json.dumps(info, indent=1), "utf-8")
    task = "Reach for the cube."
    (meta / "tasks.jsonl").write_text(json.dumps({"task_index": 0, "task": task}) + "\n", "utf-8")
    with (meta / "episodes.jsonl").open("w", encoding="utf-8") as file:
        for episode, length in enumerate(lengths):
            row = {"episode_index": episode, "tasks": [task], "length": length}
            file.write(json.dumps(row) + "\n")
