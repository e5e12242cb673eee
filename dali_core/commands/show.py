"""``dali-core show``: a picture, or a report, of what a pipeline returns."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from dali_core._messages import print_lines
from dali_core.commands._options import output_file, positive


def add_parser(parsers: Any) -> None:
    """Add the arguments of the command."""
    from dali_core.commands._scripts import add_script_options

    parser = parsers.add_parser(
        "show",
        help="draw samples of a pipeline",
        description="Draw samples that a pipeline of a script returns, or write a report.",
    )
    add_script_options(parser)
    parser.add_argument("--samples", type=positive, default=4, metavar="N", help="(%(default)s)")
    parser.add_argument(
        "--out", type=output_file, metavar="FILE", help="by default preview.png or report.html"
    )
    parser.add_argument(
        "--report", action="store_true", help="write a report of the pipeline instead of a picture"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the picture or the report."""
    from dali_core.commands._scripts import load_pipeline

    pipeline: Any = load_pipeline(options)
    target: Path = options.out or Path("report.html" if options.report else "preview.png")
    if options.report:
        pipeline.report(target, samples=options.samples)
    else:
        pipeline.show(samples=options.samples).save(target)
    print_lines(str(target))
    return 0
