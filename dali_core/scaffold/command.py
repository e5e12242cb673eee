"""The arguments of the command, and what it says."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dali_core._messages import print_lines
from dali_core.errors import ArgumentValueError
from dali_core.scaffold.operator import create_operator
from dali_core.scaffold.package import create_package
from dali_core.scaffold.reader import create_reader


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m dali_core.scaffold", description="Start new operators and readers."
    )
    commands = parser.add_subparsers(required=True)
    operator = commands.add_parser("operator", help="start a new operator in the source tree")
    operator.add_argument("name", help="path of its function below fn, such as readers.text")
    operator.add_argument(
        "--root", type=Path, default=Path(), metavar="FOLDER", help="the source tree; default: here"
    )
    operator.set_defaults(start=_start_operator)
    package = commands.add_parser("package", help="start a package with an operator")
    package.add_argument("package", help="name of the package and of its folder, such as my_ops")
    package.add_argument("name", help="path of the function below fn, such as my.solarize")
    package.add_argument(
        "--root", type=Path, default=Path(), metavar="FOLDER", help="where to put it; default: here"
    )
    package.set_defaults(start=_start_package)
    reader = commands.add_parser("reader", help="start a package with a reader of a format")
    reader.add_argument("name", help="name of the package, and of the function below fn.readers")
    reader.add_argument(
        "--root", type=Path, default=Path(), metavar="FOLDER", help="where to put it; default: here"
    )
    reader.set_defaults(start=_start_reader)
    options = parser.parse_args(arguments)
    try:
        lines = options.start(options)
    except ArgumentValueError as error:
        print_lines(str(error), file=sys.stderr)
        return 2
    print_lines(*lines)
    return 0


def _start_operator(options: argparse.Namespace) -> list[str]:
    files = create_operator(options.name, options.root)
    test = files[-1].relative_to(options.root)
    return [
        *_written(files, options.root),
        "The operator works as it is: it multiplies by a factor. Next:",
        "  1. build:                      python setup.py build_ext --inplace",
        f"  2. test:                       pytest {test} tests/operators/test_suite.py",
        "  3. make it yours, test first:  description, then code",
        "  4. write the type stubs:       python -m dali_core._stubs",
    ]


def _start_package(options: argparse.Namespace) -> list[str]:
    files = create_package(options.package, options.name, options.root)
    return [
        *_written(files, options.root),
        f"The package works as it is. Next, in {options.root / options.package}:",
        "  1. install, after each change: pip install --no-build-isolation .",
        "  2. test:                       pytest tests",
        "  3. make it yours, test first:  description, then code",
        f"  4. write the type stubs:       python -m dali_core._stubs --package {options.package}",
    ]


def _start_reader(options: argparse.Namespace) -> list[str]:
    files = create_reader(options.name, options.root)
    return [
        *_written(files, options.root),
        "The reader works as it is: it reads rows of float32. Next, in "
        f"{options.root / options.name}:",
        "  1. install, once:              pip install --no-build-isolation -e .",
        "  2. test:                       pytest tests",
        "  3. make it yours, test first:  description, listing, then fetch_many",
        f"  4. write the type stubs:       python -m dali_core._stubs --package {options.name}",
    ]


def _written(files: list[Path], root: Path) -> list[str]:
    return ["Written:", *(f"  {file.relative_to(root)}" for file in files), ""]
