"""``dali-core completion``: completion of this command for a shell."""

from __future__ import annotations

import argparse
from typing import Any

from dali_core.errors import MissingModuleError

_SHELLS = ("bash", "zsh")


def add_parser(parsers: Any) -> None:
    """Add the arguments of the command."""
    parser = parsers.add_parser(
        "completion",
        help="print the completion of this command for a shell",
        description="Print the completion of this command for a shell, for example: "
        'eval "$(dali-core completion bash)". The extra completion must be installed.',
    )
    parser.add_argument("shell", choices=_SHELLS, help="shell that the text is for")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the completion."""
    try:
        import shtab
    except ImportError as error:
        raise MissingModuleError(
            f"completion: shtab must be installed (got: {error}). Run pip install shtab."
        ) from error
    from dali_core.__main__ import command_parser

    print(shtab.complete(command_parser(), options.shell))
    return 0
