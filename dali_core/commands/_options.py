"""Values of options that several commands have, and where their results go."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from dali_core.errors import ArgumentValueError


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
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"must be a file in a folder to write to (got {text!r})")
    return path


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
