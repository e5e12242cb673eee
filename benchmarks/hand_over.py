"""Measure the conversion of batches to a framework: ``python -m benchmarks.hand_over``.

Measured are, for batches that a pipeline has computed: dense images with labels, and images of
unequal size, turned into tensors of the framework in the way of each library's plugin, without the
time of the pipeline; and the time from one batch of an iterator to the next, around a pipeline with
almost no computation.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from typing import Any

from tqdm import tqdm

from .command import add_peer_options, describe_run, find_peers, positive, write_results
from .summary import quartiles, ratio_of_medians

FRAMEWORKS = {"pytorch": "PyTorch", "jax": "JAX"}
ACTIONS = {
    "dense": "images 224 x 224 x 3 and labels",
    "dlpack": "the same, by a program of one's own that uses DLPack",
    "ragged": "images of unequal size, as a list",
    "iterator": "an iteration over two random operators",
}
# The iterators for JAX have no ragged batches.
ACTIONS_OF = {"pytorch": tuple(ACTIONS), "jax": ("dense", "dlpack", "iterator")}


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.hand_over", description=__doc__.split("\n", 1)[0]
    )
    add_peer_options(parser, default=("ours", "reference"))
    parser.add_argument("--batch-size", type=positive, default=64, help="(%(default)s)")
    parser.add_argument(
        "--batches", type=positive, default=300, help="in a measurement (%(default)s)"
    )
    parser.add_argument(
        "--frameworks", nargs="+", choices=tuple(FRAMEWORKS), default=tuple(FRAMEWORKS)
    )
    arguments = parser.parse_args()
    peers = find_peers(arguments)
    times: dict[str, dict[str, dict[str, list[float]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    versions: dict[str, dict[str, str]] = defaultdict(dict)
    turns = [
        (framework, action, peer)
        for round_ in range(arguments.rounds)
        for framework in arguments.frameworks
        for action in ACTIONS_OF[framework]
        for peer in peers[round_ % len(peers) :] + peers[: round_ % len(peers)]
    ]
    for framework, action, peer in tqdm(turns, unit="measurement"):
        result = peer.measure(
            "hand_over",
            framework=framework,
            action=action,
            batch_size=arguments.batch_size,
            warm_up=50,
            batches=arguments.batches,
        )
        times[framework][action][peer.name].append(result["microseconds"])
        versions[framework][peer.title] = result["framework_version"]
    for framework, by_action in times.items():
        for action, by_peer in by_action.items():
            title = f"{FRAMEWORKS[framework]}, batches of {arguments.batch_size}"
            print(f"\n{title}: {ACTIONS[action]}")
            for peer in peers:
                _report(peer.name, peer.title, by_peer)
    description: dict[str, Any] = describe_run(arguments, peers, [])
    write_results("hand-over", description | {"frameworks": versions, "median_microseconds": times})


def _report(name: str, title: str, times: dict[str, list[float]]) -> None:
    spread = quartiles(times[name])
    line = f"  {title:12} {spread.median:8.1f} us ({spread.low:.1f} to {spread.high:.1f})"
    if name != "ours" and "ours" in times:
        ratio = ratio_of_medians(times[name], times["ours"])
        line += f"  {ratio.median:.1f} times that of dali_core"
        line += f" ({ratio.low:.1f} to {ratio.high:.1f})"
    print(line)


if __name__ == "__main__":
    main()
