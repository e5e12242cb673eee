"""``dali-core new``: writes a program to start from, for a kind of data."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from pathlib import Path
from typing import Any

from dali_core._messages import print_lines
from dali_core.errors import ArgumentValueError

_PROGRAMS = Path(__file__).with_name("programs")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*\.py")


def add_parser(parsers: Any) -> None:
    """Add the arguments of the command."""
    kinds = ", ".join(program_kinds())
    parser = parsers.add_parser(
        "new",
        help="write a program to start from",
        description="Write a program that loads data and trains a small model, to replace by your "
        f"own. There is one for each of these kinds: {kinds}. Existing files are never replaced.",
    )
    parser.add_argument(
        "target", metavar="FILE", help="program to write, such as classifier.py; or a kind"
    )
    parser.add_argument(
        "--kind", choices=program_kinds(), help="by default the name of the file says it"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the program."""
    path = write_program(options.target, options.kind)
    print_lines(
        str(path),
        f"Next: python {path} --help",
        f"      dali-core show {path}:pipeline",
        f"      dali-core bench {path}:pipeline",
    )
    return 0


def program_kinds() -> list[str]:
    """Return the kinds of programs that can be written."""
    return sorted(_programs())


def _programs() -> dict[str, Path]:
    # A program called jax.py would import itself in place of JAX.
    return {path.stem.removeprefix("train_"): path for path in _PROGRAMS.glob("*.py")}


def write_program(target: str, kind: str | None = None) -> Path:
    """Write a new program.

    Parameters
    ----------
    target : str
        Path of the file, with the suffix ``.py``; or a kind, whose program gets its usual name.
    kind : str, optional
        One of `program_kinds`. By default the one that the name of the file begins or ends with,
        such as ``train_video.py``.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ArgumentValueError
        If the name is not one of a program or says no kind, or if the file exists.
    OSError
        If it cannot be written.
    """
    usual = _programs().get(target)
    path = Path(target) if usual is None else Path(usual.name)
    if not _NAME.fullmatch(path.name):
        raise ArgumentValueError(
            "new: the file must have a name of letters, digits, - and _, and the suffix .py (got "
            f"{path.name!r}).{_suggestion(path.stem) or ' Name it, for example, classifier.py.'}"
        )
    program = _programs()[kind or _kind_of(path)]
    text = program.read_text("utf-8")
    if path.stem in sys.stdlib_module_names or path.stem in _imported(text):
        raise ArgumentValueError(
            f"new: the program must not be called like a module (got {path.name!r}, which would "
            f"be imported in its place). Choose another name, such as {program.name}."
        )
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text.replace(f" {program.name}", f" {path.name}"))
    except FileExistsError as error:
        raise ArgumentValueError(
            f"new: the file must not exist yet (got {str(path)!r}). Choose another name."
        ) from error
    return path


def _imported(program: str) -> set[str]:
    """Return the packages that a program imports."""
    return set(re.findall(r"^(?:import|from) (\w+)", program, re.MULTILINE))


def _kind_of(path: Path) -> str:
    words = re.split(r"[_-]", path.stem.lower())
    kind = next((word for word in (words[-1], words[0]) if word in _programs()), None)
    if kind is None:
        raise ArgumentValueError(
            f"new: the name must say one of the kinds {', '.join(program_kinds())} (got "
            f"{path.name!r}).{_suggestion(path.stem)} Otherwise name the kind with --kind."
        )
    return kind


def _suggestion(word: str) -> str:
    found = difflib.get_close_matches(word, program_kinds(), n=1)
    return f" Did you mean {_programs()[found[0]].name}?" if found else ""
