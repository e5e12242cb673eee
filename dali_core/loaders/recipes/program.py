"""Programs as texts, and running them: the text that is shown is the one that runs."""

from __future__ import annotations

import itertools
import linecache
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from dali_core.errors import ArgumentTypeError

Argument: TypeAlias = "str | tuple[str, str]"
"""A positional argument of a call, or a keyword and its value, as they are written."""

_INDENT = "    "
_MOST_COLUMNS = 88
"""Columns of a line, as formatters of Python have by default."""


def literal(value: Any, name: str) -> str:
    """Return a value as Python writes it.

    Only values that are written as themselves become part of a program: numbers, texts, None, and
    lists of these.

    Raises
    ------
    ArgumentTypeError
        If the value is of another kind.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if type(value) is str:
        return _text(value)
    if isinstance(value, bytes):
        return _text(os.fsdecode(value))
    if value is None or type(value) in (bool, int, float):
        is_finite = not isinstance(value, float) or math.isfinite(value)
        return repr(value) if is_finite else f'float("{value}")'
    if isinstance(value, str):
        return _text(str.__str__(value))
    if isinstance(value, (list, tuple, np.ndarray)):
        return f"[{', '.join(literal(one, name) for one in value)}]"
    raise ArgumentTypeError(
        f"{name}: must be a number, a text or a list of these, which can be part of the program "
        f"that code() returns (got a {type(value).__name__})."
    )


def _text(value: str) -> str:
    written = repr(value)
    if written[0] == "'" and '"' not in value:
        return f'"{written[1:-1]}"'
    return written


def call(function: str, arguments: Sequence[Argument], depth: int = 1) -> str:
    """Return a call, on one line if it fits.

    Parameters
    ----------
    function : str
        What comes before the parenthesis, perhaps with an assignment.
    arguments : sequence of str or (str, str)
        Positional arguments and keywords with their values, as they are written.
    depth : int
        Levels of indentation of the line.
    """
    written = [one if isinstance(one, str) else f"{one[0]}={one[1]}" for one in arguments]
    indent = _INDENT * depth
    line = f"{indent}{function}({', '.join(written)})"
    if len(line) <= _MOST_COLUMNS and "\n" not in line:
        return line
    inner = indent + _INDENT
    joined = inner + ", ".join(written)
    if len(joined) <= _MOST_COLUMNS and "\n" not in joined:
        return f"{indent}{function}(\n{joined}\n{indent})"
    return f"{indent}{function}(\n" + "".join(f"{inner}{one},\n" for one in written) + f"{indent})"


def options(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return keywords with their values as they are written."""
    return [(name, literal(value, name)) for name, value in values.items()]


def run(text: str, name: str) -> dict[str, Any]:
    """Run the text of a program as a module, and return its names.

    Errors show its lines.

    Parameters
    ----------
    text : str
        The program.
    name : str
        Name of the function that has written it.
    """
    # The number of texts that were run tells them apart in tracebacks.
    path = f"<{name} {next(_counter)}>"
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    names: dict[str, Any] = {"__name__": f"dali_core.loaders.{name}", "__file__": path}
    exec(compile(text, path, "exec", dont_inherit=True), names)  # noqa: S102 - text of ours
    return names


_counter = itertools.count()
