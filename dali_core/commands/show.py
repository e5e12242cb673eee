"""``dali-core show``: a picture, or a report, of what a pipeline returns."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from dali_core._messages import print_lines
from dali_core.commands._options import STANDARD_OUTPUT, output_file, positive, written
from dali_core.errors import ArgumentValueError

_PAGES = (".html", ".htm")
_PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff")


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
        "--out",
        type=output_file,
        metavar="FILE",
        help="by default preview.png or report.html; the suffix says which of them",
    )
    parser.add_argument(
        "--report", action="store_true", help="write a report of the pipeline instead of a picture"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the picture or the report."""
    from dali_core.commands._scripts import load_pipeline

    target: Path = options.out or Path("report.html" if options.report else "preview.png")
    is_report = _is_report(target, options.report)
    pipeline: Any = load_pipeline(options)
    with written(target, ".html" if is_report else ".png") as file:
        if is_report:
            pipeline.report(file, samples=options.samples)
        else:
            pipeline.show(samples=options.samples).save(file)
    if target != STANDARD_OUTPUT:
        print_lines(str(target))
    return 0


def _is_report(target: Path, wanted: bool) -> bool:
    """Return whether a report is asked for: by its option, or by the suffix of the file."""
    suffix = target.suffix.lower()
    if target == STANDARD_OUTPUT or suffix in (_PAGES if wanted else _PICTURES):
        return wanted
    if suffix in _PAGES:
        return True
    known = _PAGES if wanted else (*_PICTURES, *_PAGES)
    raise ArgumentValueError(
        f"show: --out must be a file with one of the suffixes {', '.join(known)} "
        f"(got {str(target)!r}{' for a report' if wanted else ''}). Rename it."
    )
