"""Measure the gain and the cost of prefetching files: ``python -m benchmarks.reading_ahead``.

The same pipeline runs with and without I/O threads, alternating, each time in a fresh process: with
all files in the page cache, where prefetching must cost nothing, and with every `read` delayed, as
by a slow disk or a network, where it must be faster. The delay is implemented by a small library
that is compiled here and preloaded.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from tqdm import tqdm

from .command import ROOT, add_photo_options, batches_of, find_photos, positive, write_results
from .machine import describe
from .summary import quartiles, ratio_of_medians


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reading_ahead", description=__doc__.split("\n", 1)[0]
    )
    add_photo_options(parser)
    parser.add_argument("--rounds", type=positive, default=7, help="(%(default)s)")
    parser.add_argument(
        "--delays",
        type=int,
        nargs="+",
        default=[0, 5000],
        metavar="MICROSECONDS",
        help="of each read; 0 for none (default: 0 5000)",
    )
    parser.add_argument(
        "--io-threads", type=int, nargs="+", default=[0, 8], help="(default: none and 8)"
    )
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(_measure(**json.load(sys.stdin)))
        return
    files = find_photos(arguments.data, arguments.images)
    rates: dict[str, list[float]] = defaultdict(list)
    loads = []
    with tempfile.TemporaryDirectory() as folder:
        library = compile_slow_read(Path(folder))
        for round_ in tqdm(range(arguments.rounds), unit="round"):
            turns = [(delay, count) for delay in arguments.delays for count in arguments.io_threads]
            for delay, count in turns if round_ % 2 else reversed(turns):
                loads.append(os.getloadavg()[0])
                rates[f"{delay} us, {count} I/O threads"].append(
                    _in_fresh_process(
                        library,
                        files=[str(file) for file in files],
                        threads=arguments.threads,
                        batch_size=arguments.batch_size,
                        batches=batches_of(arguments.images, files, arguments.batch_size),
                        delay=delay,
                        io_threads=count,
                    )
                )
    for delay in arguments.delays:
        base = rates[f"{delay} us, {arguments.io_threads[0]} I/O threads"]
        print(f"\neach read delayed by {delay} us")
        for count in arguments.io_threads:
            values = rates[f"{delay} us, {count} I/O threads"]
            rate, ratio = quartiles(values), ratio_of_medians(values, base)
            print(
                f"  {count:2} I/O threads {rate.median:7.0f} images/s ({rate.low:.0f} to "
                f"{rate.high:.0f}), {ratio.median:.2f} times the first ({ratio.low:.2f} to "
                f"{ratio.high:.2f})"
            )
    print(f"\nload of the machine before each measurement: {min(loads):.1f} to {max(loads):.1f}")
    write_results("reading-ahead", {"machine": describe(), "loads": loads, "rates": rates})


def compile_slow_read(folder: Path) -> Path:
    """Compile the library that delays reading, and return its path."""
    library = folder / "slow_read.so"
    source = Path(__file__).with_name("slow_read.c")
    command = [os.environ.get("CC", "cc").split()[-1], "-O1", "-shared", "-fPIC", str(source)]
    subprocess.run([*command, "-o", str(library), "-ldl"], check=True)
    return library


def _in_fresh_process(library: Path, **parameters: object) -> float:
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks.reading_ahead", "--child"],
        input=json.dumps(parameters),
        env=os.environ | {"LD_PRELOAD": str(library)},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return float(result.stdout)


def _measure(
    files: list[str], threads: int, batch_size: int, batches: int, delay: int, io_threads: int
) -> float:
    from dali_core import Pipeline, fn, types
    from dali_core._execution import runner_options

    runner_options.NUM_IO_THREADS = io_threads
    with Pipeline(batch_size, threads, None, seed=1) as pipeline:
        data, _ = fn.readers.file(files=files, random_shuffle=True)
        images = fn.decoders.image(data)
        pipeline.set_outputs(
            fn.crop_mirror_normalize(
                images, crop=[224, 224], out_of_bounds_policy="pad", dtype=types.FLOAT
            )
        )
    for _ in range(4):
        pipeline.run()
    ctypes.CDLL(None).set_read_delay(delay)
    for _ in range(4):
        pipeline.run()
    start = time.perf_counter()
    for _ in range(batches):
        pipeline.run()
    rate = batches * batch_size / (time.perf_counter() - start)
    pipeline.close()
    return rate


if __name__ == "__main__":
    main()
