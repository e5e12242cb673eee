"""``dali-core check``: decodes a data set, and lists what is bad in it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from typing import Any

from dali_core.commands._options import (
    add_report_options,
    output_file,
    positive,
    processors,
    write_output,
    write_report,
)


def add_parser(parsers: Any) -> None:
    """Add the arguments of the command."""
    parser = parsers.add_parser(
        "check",
        help="decode a data set, and list the bad files in it",
        description="Decode all images, sounds and videos of a data set as pipelines do. List bad "
        "files, formats, sizes and classes. The status is 1 if there are bad files.",
    )
    parser.add_argument("path", metavar="PATH", help="folder, or list: a path on each line")
    add_report_options(parser)
    parser.add_argument(
        "--write-list",
        type=output_file,
        metavar="FILE",
        help="list the good files with their labels, for readers.file(file_list=FILE)",
    )
    parser.add_argument(
        "--bad-list",
        type=output_file,
        metavar="FILE",
        help="write the paths of bad files, each with a NUL behind it, for xargs -0",
    )
    parser.add_argument(
        "--picture", type=output_file, metavar="FILE", help="draw histograms (needs matplotlib)"
    )
    parser.add_argument(
        "--state", type=output_file, metavar="FILE", help="keep results there, and resume from them"
    )
    parser.add_argument(
        "--num-threads", type=positive, default=processors(), metavar="N", help="(%(default)s)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check the files; return 1 if there are bad ones."""
    from dali_core.commands._check_report import check_picture, draw, lines_of, report_of
    from dali_core.commands._check_state import CheckState
    from dali_core.commands._checking import check_files, check_libraries
    from dali_core.commands._media import file_list, list_media
    from dali_core.operators.progress_bar import with_progress

    if options.picture is not None:
        check_picture(options.picture)
    files, others = list_media(options.path)
    check_libraries(files)
    state = CheckState(options.state)
    results = {file: known for file in files if (known := state.get(file)) is not None}
    missing = [file for file in files if file not in results]
    with state:
        found = with_progress(
            check_files(missing, options.num_threads),
            len(files),
            sys.stderr.isatty(),
            unit="file",
            title="Check",
            initial=len(results),
        )
        for file, checked in found:
            results[file] = checked
            state.add(file, checked)
    ordered = [(file, results[file]) for file in files]
    report = report_of(options.path, ordered, others)
    write_report(options, report, [*lines_of(report), *_advice(options, report)])
    if options.bad_list is not None:
        bad = [os.fsencode(file.path) + b"\0" for file, checked in ordered if checked.reason]
        write_output(options.bad_list, b"".join(bad))
    if options.write_list is not None:
        good = [file for file, checked in ordered if not checked.reason]
        write_output(options.write_list, file_list(good, options.write_list))
    if options.picture is not None:
        draw(ordered, options.picture)
    return int(report["bad"] > 0)


def _advice(options: argparse.Namespace, report: dict[str, Any]) -> Iterator[str]:
    """Say how the bad files are left out of a training."""
    if not report["bad"]:
        return
    if options.write_list is None:
        yield (
            "Leave the bad files out: write a list of the others with --write-list good.txt, and "
            'read it with fn.readers.file(file_list="good.txt").'
        )
    yield 'Or train with them: Pipeline(on_sample_error="replace") reads other files instead.'
