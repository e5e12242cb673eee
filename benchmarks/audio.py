"""Measure the speed of operators on audio, against other libraries: ``python -m benchmarks.audio``.

Signals are generated: 10 s at 16 kHz, in memory. All libraries compute the same log-mel
spectrograms (windows of 400 samples, steps of 160, 80 filters), or resample to 22.05 kHz, with the
same number of threads.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict

from tqdm import tqdm

from . import machine
from .command import WorkerError, positive, run_worker, warn_if_busy, write_results
from .peers.audio import PACKAGES, PIPELINES
from .summary import quartiles, ratio_of_medians

_BATCH = 32


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.audio", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--rounds", type=positive, default=7, help="(%(default)s)")
    parser.add_argument("--threads", type=positive, default=machine.processors())
    parser.add_argument("--batches", type=positive, default=6, help="(%(default)s)")
    parser.add_argument("--peers", nargs="+", choices=tuple(PACKAGES), default=list(PACKAGES))
    arguments = parser.parse_args()
    warn_if_busy()
    turns = [name for name in PIPELINES if name.split("/")[0] in arguments.peers]
    rates: dict[str, list[float]] = defaultdict(list)
    left_out: dict[str, str] = {}
    for round_ in tqdm(range(max(2, arguments.rounds)), unit="round"):
        for name in turns[:: 1 if round_ % 2 == 0 else -1]:
            if name in left_out:
                continue
            try:
                rate = _measure(name, arguments.threads, arguments.batches)
            except WorkerError as error:
                left_out[name] = str(error).splitlines()[-1]
            else:
                rates[name].append(rate)
    for name, reason in left_out.items():
        print(f"{name} is left out: {reason}")
    _report(rates)
    write_results(
        "audio",
        {
            "machine": machine.describe(),
            "versions": run_worker(sys.executable, "audio", "versions", {})["versions"],
            "threads": arguments.threads,
            "signals_per_second": rates,
        },
    )


def _measure(name: str, threads: int, batches: int) -> float:
    parameters = {
        "pipeline": name,
        "files": [],
        "threads": threads,
        "batch_size": _BATCH,
        "warm_up": 3,
        "batches": batches,
    }
    result = run_worker(sys.executable, "audio", "throughput", parameters)
    return float(result["images_per_second"])


def _report(rates: dict[str, list[float]]) -> None:
    for task in ("log-mel", "resample"):
        by_library = {
            name.split("/")[0]: values for name, values in rates.items() if name.endswith(task)
        }
        if "ours" not in by_library:
            continue
        print(f"{task}: signals of 10 s per second")
        for library, values in by_library.items():
            spread = quartiles(values)
            print(f"  {library:12} {spread.median:8.0f} ({spread.low:.0f} to {spread.high:.0f})")
        for library, values in by_library.items():
            if library != "ours":
                ratio = ratio_of_medians(by_library["ours"], values)
                print(
                    f"  ours / {library:12} {ratio.median:6.2f} "
                    f"({ratio.low:.2f} to {ratio.high:.2f})"
                )


if __name__ == "__main__":
    main()
