"""Measure kernels and the mixed pipeline on a GPU: ``python -m benchmarks.gpu``.

Kernels: memory throughput, relative to that of a device-to-device copy in the same round, on
batches of more than 200 MB. Only the work of one operator is between the two timing events: the
stream is kept busy until all of it is enqueued.

Pipeline: images in a second with decoding on the host, and random crop, resize, mirror and
normalisation on the device, alternating with NVIDIA DALI if it is installed.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path
from typing import Any

from . import kernels_on_device as kernels
from .command import (
    RESULTS,
    Peer,
    WorkerError,
    add_peer_options,
    add_photo_options,
    batches_of,
    describe_run,
    find_peers,
    find_photos,
    write_results,
)
from .peers.photo_settings import DEVICE_PIPELINES
from .summary import quartiles, ratio_of_medians

WARM_UP = 20


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    add_peer_options(parser, default=("ours", "reference"))
    add_photo_options(parser)
    parser.add_argument(
        "--quick", action="store_true", help="next to no data, to see whether it runs at all"
    )
    parser.add_argument(
        "--results", type=Path, metavar="FOLDER", help="where the results are written"
    )
    parser.add_argument("--without-pipeline", action="store_true", help="measure kernels only")
    parser.add_argument("--without-kernels", action="store_true", help="measure the pipeline only")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rounds, arguments.batch_size, arguments.images = 2, 4, 8
    device = describe_device()
    print(device)
    results: dict[str, Any] = {}
    if not arguments.without_kernels:
        results["kernels"] = measure_kernels(arguments)
    peers: list[Peer] = []
    files: list[str] = []
    if not arguments.without_pipeline:
        peers = find_peers(arguments)
        files = find_photos(arguments.data, arguments.images)
        results["pipelines"] = measure_pipelines(arguments, peers, files)
    if arguments.quick:
        device += " (next to no data: numbers mean nothing)"
        print("\nThese numbers mean nothing: next to no data (--quick).")
    if arguments.results or not arguments.quick:
        description = describe_run(arguments, peers, files)
        description["machine"]["device"] = device
        write_results(
            "-".join(["gpu", *results]),
            description | results,
            folder=arguments.results or RESULTS,
            device=kernels.device_description()[0],
        )


def describe_device() -> str:
    """Describe the device, the driver and the date."""
    name, driver, today = kernels.device_description()
    warning = " (a simulated driver: numbers mean nothing)" if "Simulated" in name else ""
    return f"{name}, driver {driver}, {today}{warning}"


def measure_kernels(arguments: argparse.Namespace) -> dict[str, dict[str, list[float]]]:
    """Measure all kernels alternating with a copy, and print their ratios."""
    measured: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with kernels.Bench(kernels.QUICK_BYTES if arguments.quick else kernels.BATCH_BYTES) as bench:
        for _ in range(arguments.rounds):
            for case in kernels.CASES:
                # Directly after one another: clocks of a GPU change with its temperature.
                measured[case.name]["copy"].append(bench.copy())
                measured[case.name]["kernel"].append(bench.kernel(case))
        counted = bench.device_wide_waits()
    print(f"\n{'kernel':34} {'GB/s':>8} {'of a copy':>10}  bar")
    for case in kernels.CASES:
        rates = measured[case.name]
        share = ratio_of_medians(rates["kernel"], rates["copy"])
        verdict = ""
        if case.bar:
            met = "met" if share.median >= case.bar else "missed"
            verdict = f"{case.bar:.0%} {met}"
        print(
            f"{case.name:34} {quartiles(rates['kernel']).median / 1e9:8.1f} "
            f"{share.median:9.1%}  {verdict} ({share.low:.1%} to {share.high:.1%})"
        )
    if counted is not None:
        print(f"calls that waited for the whole device in a steady loop: {counted}")
    return measured


def measure_pipelines(
    arguments: argparse.Namespace, peers: list[Peer], files: list[str]
) -> dict[str, dict[str, list[float]]]:
    """Measure images per second of all peers alternately, and print them."""
    measured: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    batches = batches_of(arguments.images, files, arguments.batch_size)
    for pipeline, title in DEVICE_PIPELINES.items():
        able = [peer for peer in peers if pipeline in peer.pipelines]
        for number in range(arguments.rounds):
            first = number % max(len(able), 1)
            for peer in able[first:] + able[:first]:
                try:
                    result = peer.measure(
                        "throughput",
                        pipeline=pipeline,
                        files=files,
                        threads=arguments.threads,
                        batch_size=arguments.batch_size,
                        warm_up=2 if arguments.quick else WARM_UP,
                        batches=batches,
                    )
                except WorkerError as error:
                    if peer.name == "ours":
                        raise
                    print(f"{peer.title} is left out: {str(error).splitlines()[-1]}")
                    able.remove(peer)
                    measured[pipeline].pop(peer.name, None)
                    continue
                measured[pipeline][peer.name].append(result["images_per_second"])
        print(f"\n{title}, batches of {arguments.batch_size}, {arguments.threads} threads")
        rates = measured[pipeline]
        for peer in able:
            spread = quartiles(rates[peer.name])
            line = f"  {peer.title:12} {spread.median:9.0f} images/s"
            line += f" ({spread.low:.0f} to {spread.high:.0f})"
            if peer.name != "ours" and "ours" in rates:
                ratio = ratio_of_medians(rates["ours"], rates[peer.name])
                line += f"  dali_core is {ratio.median:.2f} times as fast"
                line += f" ({ratio.low:.2f} to {ratio.high:.2f})"
            print(line)
    return measured


if __name__ == "__main__":
    main()
