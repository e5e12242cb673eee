"""Compare images per second and memory with other loaders: ``python -m benchmarks``.

Every measurement runs in a fresh process that does nothing else, so loaders do not affect each
other. Within a round, all loaders are measured; the order rotates from round to round. All read the
same files, from the page cache, with the same number of threads (or worker processes).
"""

from __future__ import annotations

import argparse
from typing import Any

from . import plot
from .command import (
    Peer,
    add_peer_options,
    add_photo_options,
    describe_run,
    find_peers,
    find_photos,
    positive,
    results_path,
    write_results,
)
from .peers.photo_settings import PHOTO_PIPELINES
from .summary import quartiles, ratio_of_medians
from .throughput import measure, rates_of


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__.split("\n", 1)[0]
    )
    add_peer_options(parser)
    add_photo_options(parser)
    parser.add_argument(
        "--pipelines",
        nargs="+",
        choices=tuple(PHOTO_PIPELINES),
        default=tuple(PHOTO_PIPELINES),
        metavar="PIPELINE",
        help=f"of {', '.join(PHOTO_PIPELINES)} (default: all)",
    )
    parser.add_argument(
        "--warm-up", type=positive, default=8, help="batches before measuring (%(default)s)"
    )
    arguments = parser.parse_args()
    peers = find_peers(arguments)
    files = find_photos(arguments.data, arguments.images)
    description = describe_run(arguments, peers, files)
    measurements = measure(arguments, peers, files)
    for pipeline, by_peer in measurements.items():
        report(pipeline, by_peer, peers)
    print("memory: peak resident, with worker processes (in brackets: after importing the library)")
    data = description["data"]
    name = "throughput-generated" if arguments.data is None else "throughput"
    plot.bars(
        {
            PHOTO_PIPELINES[pipeline]: {
                peer.title: rates_of(by_peer[peer.name]) for peer in peers if peer.name in by_peer
            }
            for pipeline, by_peer in measurements.items()
        },
        "images/s",
        f"{description['machine']['processor']}, {arguments.threads} threads, "
        f"batches of {arguments.batch_size}, {data['files']} {data['kind']} "
        f"of {data['mean_bytes'] / 1000:.0f} kB, {description['date']}",
        results_path(name, ".png"),
    )
    write_results(name, description | {"measurements": measurements})


def report(pipeline: str, by_peer: dict[str, list[dict[str, Any]]], peers: list[Peer]) -> None:
    """Print one pipeline: rates with quartiles, ratios with 95 % intervals, memory."""
    print(f"\n{PHOTO_PIPELINES[pipeline]}")
    for peer in peers:
        if peer.name not in by_peer:
            continue
        results = by_peer[peer.name]
        rate = quartiles(rates_of(results))
        peak = max(result["memory_peak"] for result in results) / 1e6
        imported = max(result["memory_imported"] for result in results) / 1e6
        line = f"  {peer.title:31} {rate.median:7.0f} images/s ({rate.low:.0f} to {rate.high:.0f})"
        line += f"  {peak:6.0f} MB ({imported:.0f})"
        if peer.name != "ours" and "ours" in by_peer:
            ratio = ratio_of_medians(rates_of(by_peer["ours"]), rates_of(results))
            line += f"  dali_core is {ratio.median:.2f} times as fast"
            line += f" ({ratio.low:.2f} to {ratio.high:.2f})"
        print(line)


if __name__ == "__main__":
    main()
