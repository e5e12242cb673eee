"""The command ``dali-core``, or ``python -m dali_core``."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Sequence

from dali_core import commands
from dali_core.errors import DaliCoreError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.

    Returns
    -------
    int
        0; 1 if the command reports an error, and 130 if it is interrupted. Wrong arguments exit
        with 2.
    """
    parser = argparse.ArgumentParser(
        prog="dali-core", description="Tools of dali_core, for data sets and pipelines."
    )
    parsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in pkgutil.iter_modules(commands.__path__):
        importlib.import_module(f"{commands.__name__}.{module.name}").add_parser(parsers)
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except (DaliCoreError, OSError) as error:
        print(f"dali-core: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
