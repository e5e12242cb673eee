"""Compare the speed of pipelines in two checkouts: ``python -m benchmarks.before_after BEFORE``.

Both must be built in place. Every measurement runs in a fresh process, with the code of the
checkout that it measures. Within a round, both are measured for each pipeline, in alternating
order. Ratios are those of the medians, after / before: below 1, the second is slower.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from tqdm import tqdm

from . import machine
from .command import (
    ROOT,
    WorkerError,
    add_photo_options,
    batches_of,
    find_photos,
    positive,
    run_worker,
    warn_if_busy,
    write_results,
)
from .kernels_before_after import SLOWER, commit_of
from .peers.photo_settings import EXPRESSION_PIPELINES, OVERHEAD_PIPELINES, PHOTO_PIPELINES
from .summary import Spread, quartiles, ratio_of_medians

PIPELINES = {**PHOTO_PIPELINES, **OVERHEAD_PIPELINES, **EXPRESSION_PIPELINES}


@dataclass(frozen=True)
class Task:
    """How a pipeline is measured.

    Attributes
    ----------
    measurement : str
        A function of ``measurements``.
    parameters : dict
        Its parameters.
    speed : callable
        Computes from its result a number that is larger for what is faster.
    """

    measurement: str
    parameters: dict[str, Any]
    speed: Callable[[dict[str, Any]], float]


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.before_after", description=(__doc__ or "").split("\n", 1)[0]
    )
    parser.add_argument("before", type=Path, help="checkout, built in place")
    parser.add_argument(
        "after", type=Path, nargs="?", default=ROOT, help="checkout, built in place (this one)"
    )
    parser.add_argument("--rounds", type=positive, default=9, help="of both (%(default)s)")
    parser.add_argument(
        "--pipelines",
        nargs="+",
        choices=tuple(PIPELINES),
        default=tuple(PIPELINES),
        metavar="PIPELINE",
        help=f"of {', '.join(PIPELINES)} (default: all)",
    )
    parser.add_argument(
        "--save", action="store_true", help="write the ratios to a file in benchmarks/results"
    )
    add_photo_options(parser)
    arguments = parser.parse_args()
    warn_if_busy()
    checkouts = [checked(arguments.before), checked(arguments.after)]
    is_photo = not set(arguments.pipelines).isdisjoint(PHOTO_PIPELINES)
    files = find_photos(arguments.data, arguments.images) if is_photo else []
    tasks = {name: task_of(name, arguments, files) for name in arguments.pipelines}
    ratios = {}
    speeds: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in tasks}
    for name, side in tqdm(list(turns(arguments.pipelines, arguments.rounds)), unit="measurement"):
        task = tasks[name]
        parameters = {"pipeline": name, "batch_size": arguments.batch_size, **task.parameters}
        try:
            result = run_worker(
                sys.executable, "ours", task.measurement, parameters, checkout=checkouts[side]
            )
        except WorkerError as error:
            raise SystemExit(
                f"{name} cannot be measured in {checkouts[side]}; --pipelines leaves it out. "
                f"The worker ended with {error}"
            ) from None
        speeds[name][side].append(task.speed(result))
    for name, (before, after) in speeds.items():
        ratios[name] = ratio_of_medians(after, before)
        report(PIPELINES[name], ratios[name], before, after)
    slower = [name for name, ratio in ratios.items() if ratio.median < SLOWER]
    print(f"{len(slower)} of {len(ratios)} below {SLOWER}{': ' * bool(slower)}{', '.join(slower)}")
    if arguments.save:
        settings = ("threads", "batch_size", "rounds", "images")
        results = {
            "date": date.today().isoformat(),
            "machine": machine.describe(),
            "settings": {name: getattr(arguments, name) for name in settings},
            "commits": dict(zip(("before", "after"), map(commit_of, checkouts), strict=True)),
            "ratios": {name: dataclasses.asdict(ratio) for name, ratio in ratios.items()},
        }
        write_results("before-after", results)


def checked(checkout: Path) -> Path:
    """Return the full path of a checkout, which must have been built in place."""
    checkout = checkout.resolve()
    if not list((checkout / "dali_core" / "_runtime").glob("executor.*.so")):
        raise SystemExit(f"{checkout}: must be a checkout that was built in place.")
    return checkout


def turns(pipelines: list[str], rounds: int) -> Iterator[tuple[str, int]]:
    """Yield which pipeline is measured in which checkout, 0 or 1, in this order."""
    for round_ in range(rounds):
        for name in pipelines:
            yield from ((name, side) for side in ((0, 1) if round_ % 2 == 0 else (1, 0)))


def task_of(name: str, arguments: argparse.Namespace, files: list[str]) -> Task:
    """Return how a pipeline is measured."""
    if name in PHOTO_PIPELINES:
        batches = batches_of(arguments.images, files, arguments.batch_size)
        parameters = {"files": files, "threads": arguments.threads, "warm_up": 8}
        return Task("throughput", {**parameters, "batches": batches}, _images_per_second)
    warm_up, batches = (200, 2000) if name in OVERHEAD_PIPELINES else (5, 30)
    return Task("batch_overhead", {"warm_up": warm_up, "batches": batches}, _batches_per_second)


def report(title: str, ratio: Spread, before: list[float], after: list[float]) -> None:
    """Print the ratio of a pipeline with its interval, and both speeds with their quartiles."""
    print(f"{ratio.median:6.3f} ({ratio.low:.3f} to {ratio.high:.3f})  {title}")
    for name, speeds in (("before", before), ("after", after)):
        spread = quartiles(speeds)
        print(f"        {name:6} {spread.median:9.1f} ({spread.low:.1f} to {spread.high:.1f})")


def _images_per_second(result: dict[str, Any]) -> float:
    return float(result["images_per_second"])


def _batches_per_second(result: dict[str, Any]) -> float:
    return 1e6 / float(result["microseconds"])


if __name__ == "__main__":
    main()
