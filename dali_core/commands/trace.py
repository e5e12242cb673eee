"""``dali-core trace``: runs a pipeline, writes what its threads do, and says what limits it."""

from __future__ import annotations

import argparse
from typing import Any

from dali_core._messages import print_lines
from dali_core.commands._options import as_json, output_file, positive


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
        "--out", type=output_file, required=True, metavar="FILE", help="trace to write"
    )
    parser.add_argument("--batches", type=positive, default=20, metavar="N", help="(%(default)s)")
    parser.add_argument("--json", action="store_true", help="print the statistics as JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the batches, and print the statistics."""
    from dali_core.commands._scripts import load_pipeline
    from dali_core.tracing import trace

    pipeline = load_pipeline(options)
    with trace(options.out):
        for _ in range(options.batches):
            try:
                pipeline.run()
            except StopIteration:  # a source had fewer
                break
        statistics = pipeline.statistics()
    pipeline.close()
    text = as_json(statistics.as_dict()) if options.json else str(statistics)
    print_lines(*text.split("\n"))
    return 0
