"""Values of options that several commands have, and where their results go."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dali_core._atomic_files import write_whole
from dali_core._messages import print_lines, printable
from dali_core.errors import ArgumentValueError

STANDARD_OUTPUT = Path("-")
"""Stands for the standard output wherever a command writes a file."""


def positive(text: str) -> int:
    """Read a positive integer from the command line."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 on (got {text!r})")
    return value


def output_file(text: str) -> Path:
    """Read the path of a file to write, before any time is spent on what goes there."""
    path = Path(text)
    if path == STANDARD_OUTPUT:
        return path
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"must be a file in a folder to write to (got {text!r})")
    return path


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that `write_report` needs."""
    parser.add_argument("--json", action="store_true", help="write JSON instead of text")
    parser.add_argument(
        "--out",
        type=output_file,
        default=STANDARD_OUTPUT,
        metavar="FILE",
        help="write there instead of to the standard output",
    )


def write_report(options: argparse.Namespace, data: Any, lines: Iterable[str]) -> None:
    """Write the result of a command: as JSON, or as lines, each of which stays one.

    Parameters
    ----------
    options : argparse.Namespace
        The arguments that `add_report_options` added.
    data : object
        The result for programs; it must be possible to write it as JSON.
    lines : iterable of str
        The result for people.
    """
    chosen = as_json(data).split("\n") if options.json else lines
    if options.out == STANDARD_OUTPUT:
        print_lines(*chosen)
    else:
        write_output(options.out, "".join(f"{printable(line)}\n" for line in chosen))


def write_output(path: Path, content: str | bytes) -> None:
    """Write a file of a command at once, or to the standard output for "-"."""
    if path != STANDARD_OUTPUT:
        write_whole(path, content)
        return
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


@contextmanager
def written(path: Path, suffix: str) -> Iterator[Path]:
    """Give the file that is to be written in the block, whose content goes to a command's output.

    Parameters
    ----------
    path : Path
        The output; for "-" another file is given, and its content is printed after the block.
    suffix : str
        Suffix of that file.
    """
    if path != STANDARD_OUTPUT:
        yield path
        return
    folder = tempfile.mkdtemp()
    try:
        file = Path(folder, f"output{suffix}")
        yield file
        write_output(path, file.read_bytes())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def as_json(data: Any) -> str:
    """Return data as readable JSON, with undecodable bytes of file names escaped."""
    return json.dumps(data, indent=2)


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def existing(text: str) -> Path:
    """Return a path that exists.

    Raises
    ------
    ArgumentValueError
        If nothing is there.
    """
    path = Path(text)
    if not path.exists():
        raise ArgumentValueError(
            f"the path must be a folder or a file (got {text!r}, which does not exist). Check it."
        )
    return path
