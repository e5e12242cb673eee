"""Measure the speedup by worker processes for sources in Python.

``python -m benchmarks.parallel_source``. Two sources are called for each sample: one is
compute-bound in Python, so that one process cannot use two processors; the other only allocates
images, which measures the transfer from a worker to the pipeline. Every peer calls them in the main
process (0 workers), and in one worker per processor.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from typing import Any

from tqdm import tqdm

from . import machine
from .command import add_peer_options, describe_run, find_peers, positive, write_results
from .peers.photo_settings import SOURCE_PIPELINES
from .summary import quartiles, ratio_of_medians


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.parallel_source", description=__doc__.split("\n", 1)[0]
    )
    add_peer_options(parser, default=("ours", "reference"))
    parser.add_argument("--batch-size", type=positive, default=64, help="(%(default)s)")
    parser.add_argument(
        "--batches", type=positive, default=50, help="in a measurement (%(default)s)"
    )
    parser.add_argument("--workers", type=positive, default=machine.processors())
    arguments = parser.parse_args()
    peers = find_peers(arguments)
    measurements: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    turns = [
        (pipeline, workers, peer)
        for round_ in range(arguments.rounds)
        for pipeline in SOURCE_PIPELINES
        for workers in (0, arguments.workers)
        for peer in peers[round_ % len(peers) :] + peers[: round_ % len(peers)]
    ]
    for pipeline, workers, peer in tqdm(turns, unit="measurement"):
        result = peer.measure(
            "batch_overhead",
            pipeline=pipeline,
            threads=workers,
            batch_size=arguments.batch_size,
            warm_up=5,
            batches=arguments.batches,
        )
        measurements[f"{pipeline}, {workers} workers"][peer.name].append(result)
    for pipeline, title in SOURCE_PIPELINES.items():
        print(f"\n{title}, batches of {arguments.batch_size}")
        for peer in peers:
            serial, parallel = (
                [
                    result["microseconds"] / 1000
                    for result in measurements[f"{pipeline}, {workers} workers"][peer.name]
                ]
                for workers in (0, arguments.workers)
            )
            gain = ratio_of_medians(serial, parallel)
            print(
                f"  {peer.title:12} {quartiles(serial).median:7.2f} ms a batch; "
                f"{quartiles(parallel).median:7.2f} ms with {arguments.workers} workers: "
                f"{gain.median:.2f} times as fast ({gain.low:.2f} to {gain.high:.2f})"
            )
    description = describe_run(arguments, peers, [])
    write_results("parallel-source", description | {"measurements": measurements})


if __name__ == "__main__":
    main()
