"""Images per second of every peer on every pipeline, in rounds of rotating order."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from tqdm import tqdm

from .command import Peer, batches_of

Measurements = dict[str, dict[str, list[dict[str, Any]]]]


def measure(arguments: argparse.Namespace, peers: list[Peer], files: list[str]) -> Measurements:
    """Measure every peer on every pipeline, alternating."""
    measurements: Measurements = {pipeline: defaultdict(list) for pipeline in arguments.pipelines}
    batches = batches_of(arguments.images, files, arguments.batch_size)
    turns = [
        (pipeline, peer)
        for round_ in range(arguments.rounds)
        for pipeline in arguments.pipelines
        for peer in peers[round_ % len(peers) :] + peers[: round_ % len(peers)]
        if pipeline in peer.pipelines
    ]
    for pipeline, peer in tqdm(turns, unit="measurement"):
        result = peer.measure(
            "throughput",
            pipeline=pipeline,
            files=files,
            threads=arguments.threads,
            batch_size=arguments.batch_size,
            warm_up=arguments.warm_up,
            batches=batches,
        )
        measurements[pipeline][peer.name].append(result)
    return measurements


def rates_of(results: Sequence[dict[str, Any]]) -> list[float]:
    """Return the images per second of each round."""
    return [result["images_per_second"] for result in results]
