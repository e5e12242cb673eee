"""Texts and values of unknown origin, as they are shown: in messages, on terminals, on pages."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TextIO

_PACKAGE = str(Path(__file__).parent)


def printable(text: str, *, keeps_lines: bool = False) -> str:
    r"""Return text of unknown origin so that it can be shown, and stays where it is put.

    Names of files, keys and metadata may have characters that move the cursor, erase what was
    printed, begin a line or turn the direction of writing, or bytes that are no text. Those are
    written as in a literal of Python: ``\x1b``, ``\n``, ``\u202e``, ``\udcff``.

    Parameters
    ----------
    text : str
        Any text.
    keeps_lines : bool
        Leave line feeds as they are, for texts of several lines.
    """
    if text.isprintable():
        return text
    kept = "\n" if keeps_lines else ""
    return "".join(
        letter if letter.isprintable() or letter in kept else repr(letter)[1:-1] for letter in text
    )


def print_lines(*lines: str, file: TextIO | None = None) -> None:
    """Print lines, each of which stays one, by `printable`; by default to the standard output."""
    for line in lines:
        print(printable(line), file=file)


def shown(value: object, most: int = 200) -> str:
    """Return a value as text, shortened to `most` characters.

    Python refuses to write integers of very many digits.
    """
    try:
        text = repr(value)
    except ValueError:
        text = f"{type(value).__name__} with a number of too many digits"
    return text if len(text) <= most else f"{text[: most - 3]}..."


def user_stacklevel() -> int:
    """Return the `stacklevel` of `warnings.warn` for the innermost call from outside the package.

    It is that of the function that calls this one.
    """
    frame = sys._getframe(1)
    level = 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    return level
