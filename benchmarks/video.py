"""Measure the speed of reading videos, against other libraries: ``python -m benchmarks.video``.

Files are generated: H.264 of 1280 x 720 and 320 x 240, and VP9 of 1280 x 720. All libraries return
RGB frames of the same files with the same number of threads; ours decodes in worker processes, one
per thread. Random clips have 8 frames, every second one.

The speedup by more threads is printed with the limit of the machine: the speedup of independent
processes that only decode.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from . import machine
from .command import ROOT, WorkerError, positive, run_worker, warn_if_busy, write_results
from .peers.videos import PACKAGES
from .summary import Spread, quartiles, ratio_of_medians

FOLDER = ROOT / "work" / "benchmark_videos"
FRAMES = 300
PEERS = ("ours", "pyav", "opencv", "torchcodec", "decord")
CASES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "720p": ("h264_720.mp4", "sequential", PEERS),
    "240p": ("h264_240.mp4", "sequential", PEERS),
    "720p clips": ("h264_720.mp4", "clips", PEERS),
    "240p clips": ("h264_240.mp4", "clips", PEERS),
    "vp9": ("vp9_720.webm", "sequential", ("ours", "pyav", "reference")),
}
# Frames of one measurement without warm-up.
_LENGTHS = {"720p": 512, "240p": 2048, "720p clips": 192, "240p clips": 512, "vp9": 256}


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.video", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--rounds", type=at_least_two, default=5, help="(%(default)s)")
    parser.add_argument("--threads", type=positive, default=machine.processors())
    parser.add_argument("--cases", nargs="+", choices=tuple(CASES), default=list(CASES))
    parser.add_argument("--peers", nargs="+", choices=tuple(PACKAGES), default=list(PACKAGES))
    arguments = parser.parse_args()
    warn_if_busy()
    make_files()
    rates: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    decoding: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    turns = [
        (case, f"{peer}, {threads}", peer, threads)
        for case in arguments.cases
        for peer in CASES[case][2]
        if peer in arguments.peers
        for threads in sorted({1, arguments.threads})
    ]
    left_out: dict[str, str] = {}
    for round_ in tqdm(range(arguments.rounds), unit="round"):
        # The last one of this round is the first of the next.
        for case, name, peer, threads in turns[:: 1 if round_ % 2 == 0 else -1]:
            if peer in left_out:
                continue
            try:
                rate = _measure(case, peer, threads)
            except WorkerError as error:
                left_out[peer] = str(error).splitlines()[-1]
            else:
                rates[case][name].append(rate)
        for file in dict.fromkeys(CASES[case][0] for case in arguments.cases):
            for count in sorted({1, arguments.threads}):
                decoding[file][count].append(_decode_at_once(file, count))
    for peer, reason in left_out.items():
        print(f"{peer} is left out: {reason}")
    busy = [_busy(arguments.threads) for _ in range(arguments.rounds)]
    _report(rates, decoding, arguments.threads, busy)
    versions = run_worker(sys.executable, "videos", "versions", {})["versions"]
    write_results(
        "video",
        {
            "machine": machine.describe(),
            "versions": versions,
            "threads": arguments.threads,
            "frames_per_second": rates,
            "frames_per_second_of_decoding_processes": decoding,
            "busy_main_thread": busy,
        },
    )


def at_least_two(text: str) -> int:
    """Read a number of rounds: a ratio has no interval after one."""
    return max(2, positive(text))


def _measure(case: str, peer: str, threads: int) -> float:
    file, pattern, _ = CASES[case]
    clips, length = 4, 16 if pattern == "sequential" else 8
    result = run_worker(
        sys.executable,
        "videos",
        "throughput",
        {
            "pipeline": f"{peer}/{pattern}",
            "files": [str(FOLDER / file)],
            "threads": threads,
            "batch_size": clips,
            "warm_up": 3,
            "batches": max(1, _LENGTHS[case] // (clips * length)),
        },
    )
    return float(result["images_per_second"])


def _decode_at_once(file: str, processes: int) -> float:
    result = run_worker(
        sys.executable,
        "videos",
        "processes_at_once",
        {
            "pipeline": "decoding/sequential",
            "files": [str(FOLDER / file)],
            "processes": processes,
            "batch_size": 1,
            "warm_up": 3,
            "seconds": 1.0,
        },
    )
    return float(result["images_per_second"])


def _busy(threads: int) -> dict[str, Any]:
    return run_worker(
        sys.executable,
        "videos",
        "busy_main_thread",
        {
            "pipeline": "ours/sequential",
            "files": [str(FOLDER / "h264_240.mp4")],
            "threads": max(1, threads - 1),
            "batch_size": 4,
            "warm_up": 3,
            "batches": 16,
            "share": 1.0,
        },
    )


def _report(
    rates: dict[str, dict[str, list[float]]],
    decoding: dict[str, dict[int, list[float]]],
    threads: int,
    busy: list[dict[str, Any]],
) -> None:
    for case, by_name in rates.items():
        print(f"{case}: frames per second")
        for name, values in by_name.items():
            spread = quartiles(values)
            print(f"  {name:16} {spread.median:8.0f} ({spread.low:.0f} to {spread.high:.0f})")
        for count in sorted({1, threads}):
            ours = by_name.get(f"ours, {count}")
            others = {
                name: values
                for name, values in by_name.items()
                if name.endswith(f", {count}") and not name.startswith("ours")
            }
            if not ours or not others:
                continue
            best = max(others, key=lambda name: quartiles(others[name]).median)
            ratio = ratio_of_medians(ours, others[best])
            _print_ratio(f"  ours / {best}", ratio)
        if threads > 1 and f"ours, {threads}" in by_name:
            ratio = ratio_of_medians(by_name[f"ours, {threads}"], by_name["ours, 1"])
            _print_ratio(f"  1 to {threads} threads", ratio)
            alone = decoding[CASES[case][0]]
            ratio = ratio_of_medians(alone[threads], alone[1])
            _print_ratio(f"  1 to {threads} processes that only decode", ratio)
    ratio = ratio_of_medians([run["python"] for run in busy], [run["hashing"] for run in busy])
    _print_ratio("busy main thread, Python / hashing:", ratio)


def _print_ratio(name: str, ratio: Spread) -> None:
    print(f"{name:18} {ratio.median:6.2f} ({ratio.low:.2f} to {ratio.high:.2f})")


def make_files() -> None:
    """Generate the videos, unless they exist."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    h264 = {"preset": "medium", "crf": "23"}
    vp9 = {"deadline": "realtime", "cpu-used": "8", "crf": "33", "b": "0"}
    _make(FOLDER / "h264_720.mp4", "libx264", 1280, 720, FRAMES, h264)
    _make(FOLDER / "h264_240.mp4", "libx264", 320, 240, 2 * FRAMES, h264)
    _make(FOLDER / "vp9_720.webm", "libvpx-vp9", 1280, 720, FRAMES // 2, vp9)


def _make(path: Path, codec: str, width: int, height: int, count: int, options: Any) -> None:
    import av

    if path.exists():
        return
    unfinished = path.with_suffix(".unfinished" + path.suffix)
    with av.open(str(unfinished), "w") as container:
        stream: Any = container.add_stream(codec, rate=Fraction(25), options=options)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.gop_size = 60
        for picture in tqdm(_pictures(width, height, count), total=count, desc=path.name):
            for packet in stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    unfinished.rename(path)


def _pictures(width: int, height: int, count: int) -> Iterator[np.ndarray]:
    """A camera that moves over a texture, a moving object, and some noise."""
    generator = np.random.default_rng(1)
    ground = _texture(generator, 2 * height, 2 * width, 16)
    thing = _texture(generator, height // 3, width // 3, 5)
    for number in range(count):
        x = int(width * (0.5 + np.sin(number / 40) / 3))
        y = int(height * (0.5 + np.cos(number / 50) / 3))
        picture = ground[y : y + height, x : x + width].copy()
        x, y = number * 7 % (width * 2 // 3), number * 3 % (height * 2 // 3)
        picture[y : y + height // 3, x : x + width // 3] = thing[:height, :width]
        noise = generator.integers(-3, 4, (height, width, 1))
        yield (picture + noise).clip(0, 255).astype(np.uint8)


def _texture(generator: np.random.Generator, height: int, width: int, size: int) -> np.ndarray:
    """Smooth noise, int16: linearly interpolated random values."""
    coarse = generator.integers(0, 256, (height // size + 2, width // size + 2, 3))
    rows, columns = np.arange(height) / size, np.arange(width) / size
    y, x = rows.astype(int), columns.astype(int)
    down, right = (rows - y)[:, None, None], (columns - x)[None, :, None]
    upper = coarse[y][:, x] * (1 - right) + coarse[y][:, x + 1] * right
    lower = coarse[y + 1][:, x] * (1 - right) + coarse[y + 1][:, x + 1] * right
    return np.asarray(upper * (1 - down) + lower * down, np.int16)


if __name__ == "__main__":
    main()
