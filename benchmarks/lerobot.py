"""Measure what samples of a LeRobot data set cost: ``python -m benchmarks.lerobot``.

The data set is generated: v3.0, two cameras of 640 x 480 in H.264 with a key frame at every second
frame. A sample has 8 consecutive frames of a camera, 8 states and 16 actions, in a random order.
Printed is processor time of all processes together, beside that of a loop with PyAV alone that
decodes the same clips to RGB in one thread, with the file kept open.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np

from dali_core import Pipeline, fn
from tests.operators.readers.lerobot_files import Written

from . import machine
from .command import ROOT, positive, warn_if_busy, write_results

FOLDER = ROOT / "work" / "benchmark_robot"
_FPS = 10
_LENGTHS = (100,) * 4
_CAMERAS = ("observation.images.top", "observation.images.wrist")
_FRAMES = 8
_BATCH_SIZE = 8
_CASES = {"columns": (), "one camera": _CAMERAS[:1], "two cameras": _CAMERAS}


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.lerobot", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--rounds", type=positive, default=5, help="(%(default)s)")
    parser.add_argument("--batches", type=positive, default=10, help="(%(default)s)")
    parser.add_argument("--threads", type=positive, default=machine.processors())
    arguments = parser.parse_args()
    warn_if_busy()
    if not (FOLDER / "meta").exists():
        cameras = dict.fromkeys(_CAMERAS, len(_LENGTHS))
        Written(_LENGTHS, cameras=cameras, fps=_FPS, size=(640, 480)).write(FOLDER)
    costs: dict[str, list[float]] = defaultdict(list)
    samples = arguments.batches * _BATCH_SIZE
    for _ in range(arguments.rounds):
        for case, cameras in _CASES.items():
            run = _reader(cameras, arguments.threads)
            batches = arguments.batches * (1 if cameras else 50)
            costs[case].append(_milliseconds(run, batches) / _BATCH_SIZE)
        for case in ("one camera", "two cameras"):
            decode = _loop(len(_CASES[case]))
            costs[f"{case}, PyAV alone"].append(_milliseconds(decode, samples))
    for case, found in costs.items():
        rounds = ", ".join(f"{cost:.3f}" for cost in found)
        print(f"{case:24} {statistics.median(found):8.3f} ms  ({rounds})")
    write_results(
        "lerobot",
        {
            "machine": machine.describe(),
            "threads": arguments.threads,
            "milliseconds_of_processors": costs,
        },
    )


def _reader(cameras: tuple[str, ...], threads: int) -> Callable[[], Any]:
    deltas: dict[str, list[float]] = {
        camera: [step / _FPS for step in range(1 - _FRAMES, 1)] for camera in cameras
    }
    deltas["observation.state"] = [step / _FPS for step in range(-7, 1)]
    deltas["action"] = [step / _FPS for step in range(16)]
    pipeline = Pipeline(batch_size=_BATCH_SIZE, num_threads=threads, device_id=None, seed=1)
    with pipeline:
        data = fn.readers.lerobot(
            root=str(FOLDER), columns=list(deltas), delta_timestamps=deltas, random_shuffle=True
        )
        pipeline.set_outputs(*data.values())
    for _ in range(4):
        pipeline.run()
    return pipeline.run


def _loop(num_cameras: int) -> Callable[[], Any]:
    random = np.random.default_rng(1)
    containers = [
        av.open(str(next((FOLDER / "videos" / camera).rglob("*.mp4"))))
        for camera in _CAMERAS[:num_cameras]
    ]
    for container in containers:
        container.streams.video[0].codec_context.thread_count = 1

    def decode() -> None:
        last = int(random.integers(_FRAMES - 1, sum(_LENGTHS)))
        for container in containers:
            _decode_clip(container, last + 1 - _FRAMES)

    return decode


def _decode_clip(container: Any, first: int) -> list[Any]:
    stream = container.streams.video[0]
    container.seek(int(first / _FPS / stream.time_base), stream=stream)
    images: list[Any] = []
    for frame in container.decode(stream):
        if round(frame.time * _FPS) >= first:
            images.append(frame.to_ndarray(format="rgb24"))
        if len(images) == _FRAMES:
            break
    return images


def _milliseconds(run: Callable[[], Any], calls: int) -> float:
    """Return the processor time of a call, of this process and of those that it has started."""
    start = _seconds()
    for _ in range(calls):
        run()
    return (_seconds() - start) / calls * 1e3


def _seconds() -> float:
    total, tick = time.process_time(), os.sysconf("SC_CLK_TCK")
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == os.getpid():
                total += (int(fields[11]) + int(fields[12])) / tick
    return total


if __name__ == "__main__":
    main()
