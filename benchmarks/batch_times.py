"""Time per batch of several peers, which several benchmarks measure."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from tqdm import tqdm

from .command import add_peer_options, describe_run, find_peers, positive, write_results
from .summary import quartiles, ratio_of_medians


def compare(
    program: str,
    description: str,
    pipelines: Mapping[str, str],
    *,
    batches: int,
    warm_up: int,
    unit: str = "us",
) -> None:
    """Read the command line, measure the peers alternately, print their times, and write results.

    Parameters
    ----------
    program, description : str
        Name of the module, which is used for the file of results, and what it measures.
    pipelines : mapping of str to str
        Pipelines and their titles.
    batches, warm_up : int
        Batches in a measurement, unless the command line sets another number, and those before it.
    unit : str
        ``"us"`` or ``"ms"``, for what is printed.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{program}", description=description
    )
    add_peer_options(parser, default=("ours", "reference"))
    parser.add_argument("--batch-size", type=positive, default=64, help="(%(default)s)")
    parser.add_argument(
        "--batches", type=positive, default=batches, help="in a measurement (%(default)s)"
    )
    arguments = parser.parse_args()
    peers = find_peers(arguments)
    measurements: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    turns = [
        (pipeline, peer)
        for round_ in range(arguments.rounds)
        for pipeline in pipelines
        for peer in peers[round_ % len(peers) :] + peers[: round_ % len(peers)]
        if pipeline in peer.pipelines
    ]
    for pipeline, peer in tqdm(turns, unit="measurement"):
        result = peer.measure(
            "batch_overhead",
            pipeline=pipeline,
            batch_size=arguments.batch_size,
            warm_up=warm_up,
            batches=arguments.batches,
        )
        measurements[pipeline][peer.name].append(result)
    scale, digits = (1, 1) if unit == "us" else (1000, 2)
    for pipeline, by_peer in measurements.items():
        print(f"\n{pipelines[pipeline]}, batches of {arguments.batch_size}")
        times = {
            name: [result["microseconds"] / scale for result in results]
            for name, results in by_peer.items()
        }
        for peer in peers:
            spread = quartiles(times[peer.name])
            line = f"  {peer.title:12} {spread.median:7.{digits}f} {unit}"
            line += f" ({spread.low:.{digits}f} to {spread.high:.{digits}f})"
            if peer.name != "ours" and "ours" in times:
                ratio = ratio_of_medians(times[peer.name], times["ours"])
                line += f"  {ratio.median:.2f} times that of dali_core"
                line += f" ({ratio.low:.2f} to {ratio.high:.2f})"
            print(line)
    results = describe_run(arguments, peers, []) | {"measurements": measurements}
    write_results(program.replace("_", "-"), results)
