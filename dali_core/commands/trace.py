"""``dali-core trace``: runs a pipeline, writes what its threads do, and says what limits it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dali_core._messages import print_lines
from dali_core.commands._options import (
    STANDARD_OUTPUT,
    as_json,
    output_file,
    positive,
    written,
)

if TYPE_CHECKING:
    from dali_core.pipeline import Pipeline
    from dali_core.statistics import PipelineStatistics


def add_parser(parsers: Any) -> None:
    """Add the arguments of the command."""
    from dali_core.commands._scripts import add_script_options

    parser = parsers.add_parser(
        "trace",
        help="run a pipeline, and see what its threads do",
        description="Run a pipeline of a script, write a trace for https://ui.perfetto.dev, and "
        "print its statistics.",
    )
    add_script_options(parser)
    parser.add_argument(
        "--out",
        type=output_file,
        default=Path("trace.json"),
        metavar="FILE",
        help="trace to write (%(default)s)",
    )
    parser.add_argument("--batches", type=positive, default=20, metavar="N", help="(%(default)s)")
    parser.add_argument("--json", action="store_true", help="print the statistics as JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the batches, and print the statistics."""
    from dali_core.commands._scripts import load_pipeline

    pipeline = load_pipeline(options)
    with written(options.out, ".json") as file:
        statistics = _traced(pipeline, file, options.batches)
    text = as_json(statistics.as_dict()) if options.json else str(statistics)
    print_lines(*text.split("\n"), file=sys.stderr if options.out == STANDARD_OUTPUT else None)
    return 0


def _traced(pipeline: Pipeline, target: Path, num_batches: int) -> PipelineStatistics:
    from dali_core.tracing import trace

    with trace(target):
        for _ in range(num_batches):
            try:
                pipeline.run()
            except StopIteration:  # a source had fewer
                break
        statistics = pipeline.statistics()
    pipeline.close()
    return statistics
