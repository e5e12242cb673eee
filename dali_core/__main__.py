"""The command ``dali-core``, or ``python -m dali_core``."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import pkgutil
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from dali_core import commands
from dali_core._messages import print_lines, printable
from dali_core.errors import DaliCoreError

_INTERRUPTED = 130
_BROKEN_PIPE = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.

    Returns
    -------
    int
        0; 1 if the command found something bad in the data; 2 for an error, as for wrong
        arguments; 130 if it was interrupted, and 141 if its output pipe was closed.
    """
    options = _parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # for names of files that are no text
    try:
        with _printable_warnings():
            status = int(options.run(options))
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # What is still to be written at the end of Python must not be an error, either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except (DaliCoreError, OSError) as error:
        if options.traceback:
            print_lines(*_traceback_lines(error), file=sys.stderr)
        print_lines(f"dali-core: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return _INTERRUPTED


def _traceback_lines(error: BaseException) -> Iterator[str]:
    for part in traceback.TracebackException.from_exception(error).format():
        # A frame has several lines; what an exception says is one.
        is_frame = part.startswith('  File "')
        yield from part.rstrip("\n").split("\n") if is_frame else [part.strip("\n")]


@contextmanager
def _printable_warnings() -> Iterator[None]:
    """Show warnings of all libraries as `print_lines` does."""
    before = warnings.formatwarning

    def format_warning(message: Warning | str, *place: Any, **line: Any) -> str:
        return before(printable(str(message)), *place, **line)

    warnings.formatwarning = format_warning
    try:
        yield
    finally:
        warnings.formatwarning = before


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with arguments, which may be names of files, in printable text."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="dali-core", description="Tools of dali_core, for data sets and pipelines."
    )
    parsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in pkgutil.iter_modules(commands.__path__):
        if not module.name.startswith("_"):
            importlib.import_module(f"{commands.__name__}.{module.name}").add_parser(parsers)
    for command in parsers.choices.values():
        command.add_argument(
            "--traceback", action="store_true", help="show where in Python an error comes from"
        )
    return parser


if __name__ == "__main__":
    sys.exit(main())
