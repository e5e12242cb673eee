"""``dali-core check``: decodes a data set, and lists what is bad in it."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from dali_core._atomic_files import write_whole
from dali_core._messages import print_lines
from dali_core.commands._options import as_json, output_file, positive, processors


def add_parser(parsers: Any) -> None:
    """Add the arguments of the command."""
    parser = parsers.add_parser(
        "check",
        help="decode a data set, and list the bad files in it",
        description="Decode all images, sounds and videos of a data set as pipelines do. List bad "
        "files, formats, sizes and classes. The status is 1 if there are bad files.",
    )
    parser.add_argument("path", metavar="PATH", help="folder, or list: a path on each line")
    parser.add_argument("--json", type=output_file, metavar="FILE", help="write the report as JSON")
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
    from dali_core.commands._media import list_media
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
    print_lines(*lines_of(report))
    if options.bad_list is not None:
        bad = [os.fsencode(file.path) + b"\0" for file, checked in ordered if checked.reason]
        write_whole(options.bad_list, b"".join(bad))
    if options.json is not None:
        write_whole(options.json, as_json(report) + "\n")
    if options.picture is not None:
        draw(ordered, options.picture)
    return int(report["bad"] > 0)
