"""The command ``dali-core``, or ``python -m dali_core``."""

from __future__ import annotations

import argparse
import difflib
import importlib
import io
import os
import pkgutil
import re
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from dali_core import __version__, commands
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
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = command_parser()
    if not arguments:
        parser.print_help()
        return 0
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        options.parser.refuse(unknown)
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
    """Says what is wrong with arguments, which may be names of files, in printable text.

    Misspelt commands, options and choices get a suggestion. `argparse` has those from Python 3.14
    on, but not for options, and in other words.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.suggest_on_error = False

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """Raise the error of arguments that the command does not have."""
        names = set(re.findall(r"--[\w-]+", self.format_help()))
        misspelt = next((word for word in unknown if word.startswith("--")), "")
        hint = _suggestion(misspelt.partition("=")[0], names)
        self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")

    def error(self, message: str) -> NoReturn:
        choice = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        if choice is not None:
            message += _suggestion(choice[1], re.findall(r"[\w-]+", choice[2]))
        super().error(printable(message))


def _suggestion(word: str, names: Iterable[str]) -> str:
    found = difflib.get_close_matches(word, sorted(names), n=1)
    return f". Did you mean {found[0]}?" if found else ""


def command_parser() -> argparse.ArgumentParser:
    """Return the parser of the command, with all commands in it."""
    parser = _Parser(
        prog="dali-core", description="Tools of dali_core, for data sets and pipelines."
    )
    parser.add_argument("--version", action="version", version=f"dali_core {__version__}")
    parsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in pkgutil.iter_modules(commands.__path__):
        if not module.name.startswith("_"):
            importlib.import_module(f"{commands.__name__}.{module.name}").add_parser(parsers)
    for command in parsers.choices.values():
        command.add_argument(
            "--traceback", action="store_true", help="show where in Python an error comes from"
        )
        command.set_defaults(parser=command)
    return parser


if __name__ == "__main__":
    sys.exit(main())
