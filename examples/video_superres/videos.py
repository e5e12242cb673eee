"""Write videos of moving scenes in several codecs: for training and validation."""

from __future__ import annotations

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from tqdm import tqdm

from .scenes import MovingScene

TRAIN = "train"
HELD_OUT = "held_out"
FRAMES_PER_SECOND = 25

_GROUP = 8  # distance of key frames: short, since clips start at random frames
_FINISHED = "finished.json"
_VERSION = 1  # increment it when the videos change, so that existing ones are replaced


@dataclass(frozen=True)
class Format:
    """How a video is stored."""

    name: str
    encoder: str
    suffix: str
    options: dict[str, str] = field(default_factory=dict)


FORMATS = (
    Format("H.264", "libx264", "mp4", {"preset": "veryfast", "crf": "14"}),
    Format("VP9", "libvpx-vp9", "webm", {"deadline": "realtime", "cpu-used": "8", "crf": "16",
                                         "b": "0"}),
    Format("HEVC", "libx265", "mp4", {"preset": "ultrafast", "crf": "14",
                                      "x265-params": "log-level=none:pools=none"}),
    Format("MPEG-4", "mpeg4", "avi", {"qmin": "2", "qmax": "3"}),
    Format("AV1", "libsvtav1", "mkv", {"preset": "12", "crf": "16", "svtav1-params": "lp=1"}),
)  # fmt: skip


@dataclass(frozen=True)
class Size:
    """The sizes of the data set."""

    videos: int = 20  # to train on
    held_out: int = 5
    frames: int = 40
    height: int = 192
    width: int = 256


def generate(folder: Path, size: Size, seed: int) -> Path:
    """Write the videos, unless they exist already.

    They are ``train/<number>.<suffix>`` and ``held_out/<number>.<suffix>``; scenes held out are not
    among those to train on. An interrupted run leaves no incomplete set under the folder's name.

    Raises
    ------
    FileExistsError
        If the folder contains something that this function did not write.
    """
    description = {"version": _VERSION, "seed": seed, **asdict(size)}
    if folder.exists() and any(folder.iterdir()):
        marker = folder / _FINISHED
        if not marker.is_file():
            raise FileExistsError(
                "videos.generate: the folder must be new or hold generated videos "
                f"(got {folder}, which has other files in it). Choose another folder."
            )
        if json.loads(marker.read_text()) == description:
            return folder
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    tasks = []
    for part, count in ((TRAIN, size.videos), (HELD_OUT, size.held_out)):
        (unfinished / part).mkdir(parents=True)
        for number in range(count):
            form = FORMATS[number % len(FORMATS)]
            path = unfinished / part / f"{number:03d}.{form.suffix}"
            scene_seed = [seed, part == HELD_OUT, number]
            tasks.append((path, form, size, scene_seed))
    os.environ.setdefault("SVT_LOG", "1")  # log level of the AV1 encoder: errors only
    total = len(tasks) * size.frames
    with (
        tqdm(total=total, unit="frame", desc="drawing videos") as progress,
        ThreadPoolExecutor(os.cpu_count()) as pool,
    ):
        for _ in pool.map(lambda task: _write_video(*task), tasks):
            progress.update(size.frames)
    (unfinished / _FINISHED).write_text(json.dumps(description, indent=2) + "\n")
    if folder.exists():
        shutil.rmtree(folder)
    unfinished.rename(folder)
    return folder


def _write_video(path: Path, form: Format, size: Size, seed: list[int]) -> None:
    scene = MovingScene(np.random.default_rng(seed), size.height, size.width)
    with av.open(str(path), "w") as output:
        options = {"threads": "1", **form.options}
        stream: Any = output.add_stream(form.encoder, rate=FRAMES_PER_SECOND, options=options)
        stream.width, stream.height, stream.pix_fmt = size.width, size.height, "yuv420p"
        stream.codec_context.gop_size = _GROUP
        for number in range(size.frames):
            frame = av.VideoFrame.from_ndarray(scene.frame(number), format="rgb24")
            frame.pts = number
            frame.time_base = Fraction(1, FRAMES_PER_SECOND)
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
