"""Measure the time from one batch to the next when there is next to nothing to compute.

``python -m benchmarks.batch_overhead``. What remains is the cost of the machinery: handing a batch
to the threads, collecting it, and wrapping the outputs; with external sources also calling Python
and taking its arrays.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from typing import Any

from tqdm import tqdm

from .command import add_peer_options, describe_run, find_peers, positive, write_results
from .peers.photo_settings import OVERHEAD_PIPELINES
from .summary import quartiles, ratio_of_medians


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.batch_overhead", description=__doc__.split("\n", 1)[0]
    )
    add_peer_options(parser, default=("ours", "reference"))
    parser.add_argument("--batch-size", type=positive, default=64, help="(%(default)s)")
    parser.add_argument(
        "--batches", type=positive, default=2000, help="in a measurement (%(default)s)"
    )
    arguments = parser.parse_args()
    peers = find_peers(arguments)
    measurements: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    turns = [
        (pipeline, peer)
        for round_ in range(arguments.rounds)
        for pipeline in OVERHEAD_PIPELINES
        for peer in peers[round_ % len(peers) :] + peers[: round_ % len(peers)]
        if pipeline in peer.pipelines
    ]
    for pipeline, peer in tqdm(turns, unit="measurement"):
        result = peer.measure(
            "batch_overhead",
            pipeline=pipeline,
            batch_size=arguments.batch_size,
            warm_up=200,
            batches=arguments.batches,
        )
        measurements[pipeline][peer.name].append(result)
    for pipeline, by_peer in measurements.items():
        print(f"\n{OVERHEAD_PIPELINES[pipeline]}, batches of {arguments.batch_size}")
        times = {
            name: [result["microseconds"] for result in results]
            for name, results in by_peer.items()
        }
        for peer in peers:
            spread = quartiles(times[peer.name])
            line = (
                f"  {peer.title:12} {spread.median:7.1f} us ({spread.low:.1f} to {spread.high:.1f})"
            )
            if peer.name != "ours" and "ours" in times:
                ratio = ratio_of_medians(times[peer.name], times["ours"])
                line += f"  {ratio.median:.2f} times that of dali_core"
                line += f" ({ratio.low:.2f} to {ratio.high:.2f})"
            print(line)
    description = describe_run(arguments, peers, [])
    write_results("batch-overhead", description | {"measurements": measurements})


if __name__ == "__main__":
    main()
