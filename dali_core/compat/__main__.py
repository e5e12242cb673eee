"""``python -m dali_core.compat program.py ...``: run a program written for NVIDIA DALI."""

from __future__ import annotations

import os
import runpy
import sys

from dali_core.compat import install

_USAGE = """usage: python -m dali_core.compat program.py [argument ...]
       python -m dali_core.compat -m module [argument ...]

Runs a program written for NVIDIA DALI with dali_core in its place."""


def main() -> None:
    """Run the program that the command line names, as Python itself would."""
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help") or arguments == ["-m"]:
        print(_USAGE, file=sys.stdout if arguments and arguments[0] != "-m" else sys.stderr)
        raise SystemExit(0 if arguments and arguments[0] != "-m" else 2)
    install()
    if arguments[0] == "-m":
        # Python has put the current folder in front already.
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    if not os.path.exists(arguments[0]):
        print(f"python -m dali_core.compat: there must be a file {arguments[0]!r}", file=sys.stderr)
        raise SystemExit(2)
    sys.argv = arguments
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.path.dirname(os.path.realpath(arguments[0]))
    runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main()
