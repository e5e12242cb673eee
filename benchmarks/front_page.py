"""Measure and write the numbers of README.md: ``python -m benchmarks.front_page``.

Writes a file of results with hashes of the measured code, the chart, and the text below it. With
``--write-only``, the newest results are written again without a measurement.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import sources
from .bar_chart import bar_chart
from .command import (
    BUSY,
    RESULTS,
    ROOT,
    add_peer_options,
    add_photo_options,
    describe_run,
    find_peers,
    find_photos,
    write_results,
)
from .peers import PEERS
from .summary import quartiles, ratio_of_medians
from .throughput import measure, rates_of

CHART = ROOT / "docs/pictures/throughput.svg"
NAME = "front-page"
PIPELINES = {
    "random_crop": "Training: decode, random crop to 224, flip, normalize",
    "centre_crop": "Validation: decode, resize to 256, center crop to 224, normalize",
}
_TITLES = {
    "ours": "dali_core",
    "reference": "NVIDIA DALI, on the CPU",
    "torch_pillow": "DataLoader and Pillow",
    "torchcodec_loader": "DataLoader and torchcodec",
}
_BEGIN = "<!-- measured numbers: begin (`python -m benchmarks.front_page` writes them) -->"
_END = "<!-- measured numbers: end -->"


def main() -> None:
    """Read the command line, measure, write."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.front_page", description=__doc__.split("\n", 1)[0]
    )
    add_peer_options(parser)
    add_photo_options(parser)
    parser.add_argument("--write-only", action="store_true", help="do not measure")
    parser.set_defaults(pipelines=tuple(PIPELINES), warm_up=8, default_peers=tuple(_TITLES))
    arguments = parser.parse_args()
    if not arguments.write_only:
        peers = find_peers(arguments)
        files = find_photos(arguments.data, arguments.images)
        before = os.getloadavg()[0]
        results = describe_run(arguments, peers, files)
        if before > BUSY:
            results["note"] = (
                f"Other programs kept the machine busy (load average {before:.1f} at the start): "
                "the ratios are of alternating rounds, and the rates too low."
            )
        results["sources"] = sources.hashes()
        results["measurements"] = measure(arguments, peers, files)
        write_results(NAME, results)
    write(newest())


def newest(folder: Path = RESULTS) -> dict[str, Any]:
    """Return the newest results of this command."""
    found = sorted(folder.glob(f"{NAME}-*.json"))
    if not found:
        raise SystemExit(
            f"{folder}: there must be results of {NAME}. Measure without --write-only."
        )
    content: dict[str, Any] = json.loads(found[-1].read_text("utf-8"))
    return content


def write(results: Mapping[str, Any]) -> None:
    """Write the chart, and the text of README.md."""
    CHART.parent.mkdir(exist_ok=True)
    CHART.write_text(chart(results), "utf-8")
    readme = ROOT / "README.md"
    text = readme.read_text("utf-8")
    readme.write_text(with_numbers(text, results), "utf-8")


def with_numbers(text: str, results: Mapping[str, Any]) -> str:
    """Return the text of README.md with other numbers."""
    pattern = re.compile(f"{re.escape(_BEGIN)}.*?{re.escape(_END)}", re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise SystemExit(f"README.md must have one part between {_BEGIN} and {_END}.")
    return pattern.sub(lambda _: f"{_BEGIN}\n\n{summary(results)}\n\n{_END}", text)


def chart(results: Mapping[str, Any]) -> str:
    """Return the chart as SVG: medians of the rounds."""
    groups = {
        title: {
            _TITLES[peer]: quartiles(rates_of(measured)).median
            for peer, measured in sorted(
                results["measurements"][pipeline].items(),
                key=lambda item: list(_TITLES).index(item[0]),
            )
        }
        for pipeline, title in PIPELINES.items()
    }
    described = "; ".join(
        f"{title}: " + ", ".join(f"{name} {value:.0f}" for name, value in group.items())
        for title, group in groups.items()
    )
    return bar_chart(groups, f"Images per second. {described}", "images per second")


def summary(results: Mapping[str, Any]) -> str:
    """Return the chart and its caption, in Markdown."""
    ratios = []
    for peer in _others(results):
        spreads = [
            ratio_of_medians(rates_of(measured["ours"]), rates_of(measured[peer]))
            for measured in (results["measurements"][pipeline] for pipeline in PIPELINES)
        ]
        shown = " and ".join(
            f"{spread.median:.1f} ({spread.low:.1f} to {spread.high:.1f})" for spread in spreads
        )
        ratios.append(f"{shown} times as fast as {_peer(results, peer)}")
    machine, settings, data = results["machine"], results["settings"], results["data"]
    text = (
        f"Images per second on {results['date']}: {machine['processor']}, {settings['threads']} "
        f"threads or worker processes, batches of {settings['batch_size']}, {data['files']} "
        f"{data['kind']} of {data['mean_bytes'] / 1000:.0f} kB in the page cache. Medians of "
        f"{settings['rounds']} alternating rounds. dali_core is {'; it is '.join(ratios)}, "
        "with 95 % intervals. Processor time for an image of training: "
        f"{_processor_time(results)}. "
        f"{results.get('note', '')}"
    )
    picture = f"![Images per second of dali_core and other loaders]({CHART.relative_to(ROOT)})"
    return f"{picture}\n\n{text.strip()}"


def _processor_time(results: Mapping[str, Any]) -> str:
    """Return the processor time of each loader in the first pipeline, with its worker processes."""
    measured = results["measurements"][next(iter(PIPELINES))]
    times = {
        peer: statistics.median(
            1e3 * result["processor_seconds"] / result["images"] for result in measured[peer]
        )
        for peer in ("ours", *_others(results))
    }
    named = ", ".join(f"{_TITLES[peer]} {time:.2g} ms" for peer, time in times.items())
    return named.replace(", on the CPU", "")


def _others(results: Mapping[str, Any]) -> list[str]:
    """Return the other loaders that were measured."""
    return [peer for peer in list(_TITLES)[1:] if PEERS[peer] in results["peers"]]


def _peer(results: Mapping[str, Any], peer: str) -> str:
    versions = results["peers"][PEERS[peer]]
    if peer == "reference":
        return f"NVIDIA DALI {versions['nvidia-dali']}"
    library = "Pillow"
    if peer == "torchcodec_loader":
        library = f"torchcodec {versions['torchcodec'].partition('+')[0]} and torchvision"
    return f"DataLoader of PyTorch {versions['torch'].partition('+')[0]} with {library}"


if __name__ == "__main__":
    main()
