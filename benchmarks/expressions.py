"""Measure how long expressions take: ``python -m benchmarks.expressions``.

One thread computes with batches of images. To make the images is next to nothing; how long they
take alone is measured, too.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from typing import Any

from tqdm import tqdm

from .command import add_peer_options, describe_run, find_peers, positive, write_results
from .peers.photo_settings import EXPRESSION_PIPELINES
from .summary import quartiles, ratio_of_medians


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.expressions", description=__doc__.split("\n", 1)[0]
    )
    add_peer_options(parser, default=("ours", "reference"))
    parser.add_argument("--batch-size", type=positive, default=64, help="(%(default)s)")
    parser.add_argument(
        "--batches", type=positive, default=30, help="in a measurement (%(default)s)"
    )
    arguments = parser.parse_args()
    peers = find_peers(arguments)
    measurements: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    turns = [
        (pipeline, peer)
        for round_ in range(arguments.rounds)
        for pipeline in EXPRESSION_PIPELINES
        for peer in peers[round_ % len(peers) :] + peers[: round_ % len(peers)]
        if pipeline in peer.pipelines
    ]
    for pipeline, peer in tqdm(turns, unit="measurement"):
        result = peer.measure(
            "batch_overhead",
            pipeline=pipeline,
            batch_size=arguments.batch_size,
            warm_up=5,
            batches=arguments.batches,
        )
        measurements[pipeline][peer.name].append(result)
    for pipeline, by_peer in measurements.items():
        print(f"\n{EXPRESSION_PIPELINES[pipeline]}, {arguments.batch_size} images")
        times = {
            name: [result["microseconds"] / 1000 for result in results]
            for name, results in by_peer.items()
        }
        for peer in peers:
            spread = quartiles(times[peer.name])
            line = (
                f"  {peer.title:12} {spread.median:7.2f} ms ({spread.low:.2f} to {spread.high:.2f})"
            )
            if peer.name != "ours" and "ours" in times:
                ratio = ratio_of_medians(times[peer.name], times["ours"])
                line += f"  {ratio.median:.2f} times that of dali_core"
                line += f" ({ratio.low:.2f} to {ratio.high:.2f})"
            print(line)
    description = describe_run(arguments, peers, [])
    write_results("expressions", description | {"measurements": measurements})


if __name__ == "__main__":
    main()
