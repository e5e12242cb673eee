"""Measure what a busy Python thread costs the loader: ``python -m benchmarks.busy_main_thread``.

A training loop keeps its thread busy between two batches, often in Python, holding the GIL. A
loader whose threads need the GIL is blocked in the meantime. The loop here requests a batch, and
then is busy for about the time of a batch, in one of three ways:

asleep
    It uses neither a processor nor the GIL. A loader that prefetches hides this time completely, so
    the rate is that of a loop that requests batches back to back.
hashing
    It keeps one processor busy, without holding the GIL. If every processor already runs a loader
    thread, this alone slows the loader down.
python
    It keeps one processor busy, and holds the GIL.

So *python* divided by *hashing* is the cost of the GIL alone, and *python* divided by *back to
back* is the remaining throughput. By default one processor is left free for the loop.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from typing import Any

from tqdm import tqdm

from . import machine
from .command import (
    add_peer_options,
    add_photo_options,
    batches_of,
    describe_run,
    find_peers,
    find_photos,
    write_results,
)
from .peers.photo_settings import PHOTO_PIPELINES
from .summary import quartiles, ratio_of_medians

_CONDITIONS = ("back_to_back", "asleep", "hashing", "python")


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.busy_main_thread", description=__doc__.split("\n", 1)[0]
    )
    add_peer_options(parser, default=("ours", "reference"))
    add_photo_options(parser)
    parser.set_defaults(threads=max(1, machine.processors() - 1))
    parser.add_argument(
        "--pipeline",
        choices=tuple(PHOTO_PIPELINES),
        default="random_crop_antialias",
        help="(%(default)s)",
    )
    parser.add_argument(
        "--share",
        type=float,
        default=0.9,
        help="time occupied, relative to that of a batch (%(default)s)",
    )
    arguments = parser.parse_args()
    peers = find_peers(arguments)
    files = find_photos(arguments.data, arguments.images)
    measurements: dict[str, list[dict[str, Any]]] = defaultdict(list)
    turns = [peer for _ in range(arguments.rounds) for peer in peers]
    for peer in tqdm(turns, unit="measurement"):
        result = peer.measure(
            "busy_main_thread",
            pipeline=arguments.pipeline,
            files=files,
            threads=arguments.threads,
            batch_size=arguments.batch_size,
            warm_up=8,
            batches=batches_of(arguments.images, files, arguments.batch_size),
            share=arguments.share,
        )
        measurements[peer.name].append(result)
    print(f"{PHOTO_PIPELINES[arguments.pipeline]}, {arguments.threads} threads")
    for peer in peers:
        rates = {
            condition: [result[condition] for result in measurements[peer.name]]
            for condition in _CONDITIONS
        }
        print(f"\n{peer.title}")
        for condition, values in rates.items():
            spread = quartiles(values)
            print(
                f"  {condition.replace('_', ' '):12} {spread.median:7.0f} images/s "
                f"({spread.low:.0f} to {spread.high:.0f})"
            )
        for other in ("back_to_back", "hashing"):
            ratio = ratio_of_medians(rates["python"], rates[other])
            print(
                f"  python / {other.replace('_', ' ')}: {ratio.median:.2f} "
                f"({ratio.low:.2f} to {ratio.high:.2f})"
            )
    description = describe_run(arguments, peers, files)
    write_results("busy-main-thread", description | {"measurements": measurements})


if __name__ == "__main__":
    main()
