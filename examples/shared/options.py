"""Options of the command line that examples have in common."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path


def add_work_folder(parser: argparse.ArgumentParser) -> None:
    """Add the option for the folder that an example writes to."""
    parser.add_argument(
        "--work",
        type=Path,
        default=Path("work"),
        metavar="DIR",
        help="folder for data and results (%(default)s)",
    )


def read_with_numbers(
    parser: argparse.ArgumentParser, numbers: Mapping[str, tuple[int, int, str]]
) -> argparse.Namespace:
    """Add options that are integers, and read the command line.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Its other options are added already.
    numbers : mapping from name to (default, smallest valid value, description)
        The integers.
    """
    for name, (default, _, text) in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{text} (%(default)s)")
    arguments = parser.parse_args()
    for name, (_, least, _) in numbers.items():
        value = getattr(arguments, name.replace("-", "_"))
        if value < least:
            parser.error(f"--{name}: must be at least {least} (got {value}).")
    return arguments
