"""Measure memory and open files over thousands of clips: ``python -m benchmarks.video_memory``.

Clips of many files are read in a random order; the files are copies of a few small ones.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
from pathlib import Path
from typing import NamedTuple

from dali_core import Pipeline, fn

from .command import positive


class Use(NamedTuple):
    """The total usage of the program and its worker processes."""

    clips: int
    memory: int  # bytes, shared pages once
    files: int
    processes: int


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.video_memory", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--clips", type=positive, default=2000, help="(%(default)s)")
    parser.add_argument("--files", type=positive, default=500, help="(%(default)s)")
    parser.add_argument("--every", type=positive, default=400, help="(%(default)s)")
    arguments = parser.parse_args()
    from tests.video_files import make

    with tempfile.TemporaryDirectory() as folder:
        names = ("h264.mp4", "hevc.mp4", "vp9.webm", "mpeg4_b.avi", "h264_open_gop.mkv")
        originals = [make(Path(folder), name) for name in names]
        print("clips  MB  open files  processes")
        for use in measure(
            originals, Path(folder), arguments.files, arguments.clips, arguments.every
        ):
            print(
                f"{use.clips:5}  {use.memory / 1e6:.0f}  {use.files}  {use.processes}", flush=True
            )


def measure(
    originals: list[Path], folder: Path, num_files: int, num_clips: int, every: int
) -> list[Use]:
    """Read clips of links to some videos, and return the usage at regular intervals."""
    paths = []
    for number in range(num_files):
        original = originals[number % len(originals)]
        paths.append(str(folder / f"link_{number}{original.suffix}"))
        os.link(original, paths[-1])
    batch_size = 8
    pipeline = Pipeline(batch_size, num_threads=2, device_id=None)
    with pipeline:
        frames = fn.experimental.readers.video(
            filenames=paths, sequence_length=4, stride=2, step=3, random_shuffle=True
        )
        pipeline.set_outputs(frames)
    pipeline.build()
    uses = []
    for clips in range(batch_size, num_clips + 1, batch_size):
        pipeline.run()
        if clips % every < batch_size:
            uses.append(_use(clips))
    return uses


def _use(clips: int) -> Use:
    processes = [os.getpid(), *_children()]
    memory = files = 0
    for process in processes:
        rollup = Path(f"/proc/{process}/smaps_rollup").read_text("ascii")
        memory += sum(int(size) for size in re.findall(r"^Pss:\s+(\d+) kB", rollup, re.MULTILINE))
        files += len(os.listdir(f"/proc/{process}/fd"))
    return Use(clips, memory * 1024, files, len(processes))


def _children() -> list[int]:
    found: list[int] = []
    for task in Path("/proc/self/task").iterdir():
        found += map(int, (task / "children").read_text("ascii").split())
    return found


if __name__ == "__main__":
    main()
