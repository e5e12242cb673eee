"""Shared parts of benchmarks of photo pipelines: command line, rounds, and results."""

from __future__ import annotations

import argparse
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tqdm import tqdm

from . import machine
from .command import (
    WorkerError,
    add_photo_options,
    batches_of,
    positive,
    run_worker,
    warn_if_busy,
    write_results,
)
from .measurements import processor_seconds


class Comparison(NamedTuple):
    """Results of each pipeline in each round.

    Attributes
    ----------
    rates : dict of str to list of float
        Images per second.
    processors, of_server : dict of str to list of float
        Processor time for an image in microseconds, of the loader with its worker processes, and
        of what serves it.
    """

    rates: dict[str, list[float]]
    processors: dict[str, list[float]]
    of_server: dict[str, list[float]]


def parser_of(name: str, doc: str, pipelines: Sequence[str]) -> argparse.ArgumentParser:
    """Make the parser of a command.

    Parameters
    ----------
    name : str
        Name of the module, and of that in ``peers`` with the pipelines.
    doc : str
        Its docstring.
    pipelines : sequence of str
        All pipelines, which are measured by default.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{name}", description=doc.split("\n", 1)[0]
    )
    add_photo_options(parser)
    parser.add_argument("--rounds", type=positive, default=7, help="(%(default)s)")
    parser.add_argument("--pipelines", nargs="+", choices=pipelines, default=pipelines)
    parser.set_defaults(name=name)
    return parser


def compare(
    arguments: argparse.Namespace,
    photos: Sequence[str],
    files_of: Callable[[str], list[str]],
    *,
    interpreter_of: Callable[[str], str] = lambda _: sys.executable,
    server: int | None = None,
    **settings: Any,
) -> Comparison:
    """Measure pipelines in rounds, in rotating order, and write a file of results.

    Parameters
    ----------
    arguments : argparse.Namespace
        What the command line says.
    photos : sequence of str
        The photos, of which each measurement has complete passes.
    files_of : callable
        Returns what a pipeline reads.
    interpreter_of : callable
        Returns what runs a pipeline.
    server : int, optional
        A process that serves all pipelines.
    **settings
        More for the file of results.

    Returns
    -------
    Comparison
        Pipelines that fail are left out.
    """
    warn_if_busy()
    rates: dict[str, list[float]] = defaultdict(list)
    processors: dict[str, list[float]] = defaultdict(list)
    of_server: dict[str, list[float]] = defaultdict(list)
    warm_up = 4
    left_out: dict[str, str] = {}
    loads = []
    for round_ in tqdm(range(arguments.rounds), unit="round"):
        shift = round_ % len(arguments.pipelines)
        for pipeline in arguments.pipelines[shift:] + arguments.pipelines[:shift]:
            if pipeline in left_out:
                continue
            loads.append(os.getloadavg()[0])
            parameters = {
                "pipeline": pipeline,
                "files": files_of(pipeline),
                "threads": arguments.threads,
                "batch_size": arguments.batch_size,
                "warm_up": warm_up,
                "batches": batches_of(arguments.images, photos, arguments.batch_size),
            }
            interpreter = interpreter_of(pipeline)
            served = processor_seconds(server) if server else 0.0
            try:
                result = run_worker(interpreter, arguments.name, "throughput", parameters)
            except WorkerError as error:
                left_out[pipeline] = str(error).splitlines()[-1]
                for measured in (rates, processors, of_server):
                    measured.pop(pipeline, None)
                continue
            images = result["images"]
            rates[pipeline].append(float(result["images_per_second"]))
            processors[pipeline].append(1e6 * result["processor_seconds"] / images)
            if server:
                served = processor_seconds(server) - served
                of_server[pipeline].append(1e6 * served / (images + warm_up * arguments.batch_size))
    for pipeline, reason in left_out.items():
        print(f"{pipeline} is left out: {reason}")
    print(f"load of the machine before each measurement: {min(loads):.1f} to {max(loads):.1f}")
    interpreters = {interpreter_of(pipeline): None for pipeline in rates}
    versions = {
        name: version
        for interpreter in interpreters
        for name, version in run_worker(interpreter, arguments.name, "versions", {})[
            "versions"
        ].items()
    }
    write_results(
        arguments.name,
        {
            "machine": machine.describe(),
            "versions": versions,
            "threads": arguments.threads,
            "batch_size": arguments.batch_size,
            **settings,
            "loads": loads,
            "images_per_second": rates,
            "processor_microseconds_per_image": processors,
            **({"server_microseconds_per_image": of_server} if server else {}),
        },
    )
    return Comparison(rates, processors, of_server)
