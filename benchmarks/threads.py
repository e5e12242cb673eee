"""Measure the speedup by twice the threads: ``python -m benchmarks.threads``.

Processors of a shared machine are often hyper-threads of one core, and memory bandwidth is shared
in any case, so the same is measured with threads that only hash: their speedup is an upper bound
for this machine.
"""

from __future__ import annotations

import argparse
from collections import defaultdict

from tqdm import tqdm

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
from .summary import ratio_of_medians


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.threads", description=__doc__.split("\n", 1)[0]
    )
    add_peer_options(parser, default=("ours",))
    add_photo_options(parser)
    parser.add_argument(
        "--pipeline", choices=tuple(PHOTO_PIPELINES), default="random_crop", help="(%(default)s)"
    )
    arguments = parser.parse_args()
    peers = find_peers(arguments)
    files = find_photos(arguments.data, arguments.images)
    threads = max(1, arguments.threads // 2), max(1, arguments.threads // 2) * 2
    rates: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for round_ in tqdm(range(arguments.rounds), unit="round"):
        for count in threads[:: 1 if round_ % 2 else -1]:
            hashed = peers[0].measure("hashing", threads=count, seconds=1.0)
            rates["hashing"][count].append(hashed["blocks_per_second"])
            for peer in peers:
                result = peer.measure(
                    "throughput",
                    pipeline=arguments.pipeline,
                    files=files,
                    threads=count,
                    batch_size=arguments.batch_size,
                    warm_up=8,
                    batches=batches_of(arguments.images, files, arguments.batch_size),
                )
                rates[peer.title][count].append(result["images_per_second"])
    print(
        f"{PHOTO_PIPELINES[arguments.pipeline]}: speed-up from {threads[0]} to {threads[1]} threads"
    )
    for name, by_threads in rates.items():
        ratio = ratio_of_medians(by_threads[threads[1]], by_threads[threads[0]])
        print(f"  {name:31} {ratio.median:.2f} ({ratio.low:.2f} to {ratio.high:.2f})")
    description = describe_run(arguments, peers, files)
    write_results("threads", description | {"pipeline": arguments.pipeline, "rates": rates})


if __name__ == "__main__":
    main()
