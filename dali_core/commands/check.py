"""``dali-core check``: decodes a data set, and lists what is bad in it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dali_core.commands._options import (
    add_report_options,
    output_file,
    positive,
    processors,
    write_output,
    write_report,
)
from dali_core.errors import ArgumentValueError

if TYPE_CHECKING:
    from dali_core.commands._checking import Checked
    from dali_core.commands._media import MediaFile
    from dali_core.commands._unread import UnreadFiles


def add_parser(parsers: Any) -> None:
    """Add the arguments of the command."""
    parser = parsers.add_parser(
        "check",
        help="decode a data set, and list the bad files in it",
        description="Decode all images, sounds and videos of a data set as pipelines do, also "
        "those in tar archives and Parquet files. List bad files, files that readers leave out, "
        "formats, sizes and classes. The status is 1 if there are bad files.",
    )
    parser.add_argument(
        "path", metavar="PATH", help="folder, archive, or list: a path on each line"
    )
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
    from dali_core._progress_bar import with_progress
    from dali_core.commands._archives import with_members
    from dali_core.commands._check_report import check_picture, draw, lines_of, report_of
    from dali_core.commands._check_state import CheckState
    from dali_core.commands._checking import check_files, check_libraries
    from dali_core.commands._media import check_found, list_media, without_gifs
    from dali_core.commands._robots import remarks_on_robots
    from dali_core.commands._unread import unread_files

    if options.picture is not None:
        check_picture(options.picture)
    files, others = list_media(options.path)
    members, others, remarks = with_members(others)
    files, others = without_gifs([*files, *members], others)
    check_found(options.path, files, others)
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
    unread = unread_files(options.path, ordered, others)
    report = report_of(options.path, ordered, others, unread)
    lines = [*lines_of(report), *remarks, *remarks_on_robots(options.path)]
    write_report(options, report, [*lines, *_advice(options, report, unread)])
    _write_lists(options, ordered)
    if options.picture is not None:
        draw(ordered, options.picture)
    return int(report["bad"] > 0)


def _write_lists(options: argparse.Namespace, results: Sequence[tuple[MediaFile, Checked]]) -> None:
    """Write lists of files; members of archives are in none."""
    from dali_core.commands._media import class_folders, file_list

    files = [(file, checked) for file, checked in results if file.place is None]
    if options.bad_list is not None:
        bad = [os.fsencode(file.path) + b"\0" for file, checked in files if checked.reason]
        write_output(options.bad_list, b"".join(bad))
    if options.write_list is not None:
        good = [file for file, checked in files if not checked.reason]
        if not good:
            raise ArgumentValueError(
                f"check: --write-list must have good files to list (got none in {options.path!r}, "
                "of which members of archives do not count). Leave it out."
            )
        listed = file_list(good, class_folders(options.path), options.write_list)
        write_output(options.write_list, listed)


def _advice(
    options: argparse.Namespace, report: Mapping[str, Any], unread: Sequence[UnreadFiles]
) -> Iterator[str]:
    """Say what to do: to leave out bad files, and to read those with unusual names."""
    num_members = sum(report["archives"].values())
    has_files = report["files"] > num_members
    has_unusual_names = any(group.reason == "name" for group in unread)
    if options.write_list is None and has_files and (report["bad"] or has_unusual_names):
        yield (
            "Write a list of the good files with --write-list good.txt, and read it with "
            'fn.readers.file(file_list="good.txt").'
        )
    if options.write_list is not None and num_members:
        yield f"The {num_members} members of archives are not in the list, which is one of files."
    if report["bad"]:
        yield (
            'To train in spite of bad files: Pipeline(on_sample_error="replace") reads others in '
            "their place, also from archives."
        )
