"""Measure resident memory over many batches: ``python -m benchmarks.memory``."""

from __future__ import annotations

import argparse

from .command import (
    add_peer_options,
    add_photo_options,
    describe_run,
    find_peers,
    find_photos,
    positive,
    write_results,
)
from .peers.photo_settings import PHOTO_PIPELINES


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    add_peer_options(parser, default=("ours", "reference"))
    add_photo_options(parser)
    parser.add_argument(
        "--pipeline", choices=tuple(PHOTO_PIPELINES), default="random_crop", help="(%(default)s)"
    )
    parser.add_argument("--batches", type=positive, default=3000, help="(%(default)s)")
    parser.set_defaults(batch_size=16, rounds=1)
    arguments = parser.parse_args()
    peers = find_peers(arguments)
    files = find_photos(arguments.data, arguments.images)
    every = max(1, arguments.batches // 30)
    measurements = {}
    print(f"{PHOTO_PIPELINES[arguments.pipeline]}, batches of {arguments.batch_size}: resident MB")
    for peer in peers:
        result = peer.measure(
            "memory",
            pipeline=arguments.pipeline,
            files=files,
            threads=arguments.threads,
            batch_size=arguments.batch_size,
            batches=arguments.batches,
            every=every,
        )
        resident = [round(value / 1e6) for value in result["resident"]]
        peak = round(result["memory_peak"] / 1e6)
        print(
            f"  {peer.title:12} {resident[0]} after {every} batches, "
            f"{resident[len(resident) // 2]} half way, {resident[-1]} at the end, at most {peak}"
        )
        measurements[peer.name] = result
    description = describe_run(arguments, peers, files)
    write_results("memory", description | {"every": every, "measurements": measurements})


if __name__ == "__main__":
    main()
