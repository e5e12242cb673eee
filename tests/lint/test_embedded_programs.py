"""Programs of tests are files, which are linted, and not strings."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

TESTS = Path(__file__).parents[1]
SHORT = 5
"""Fewer lines are not a program."""


def _text(node: ast.AST) -> str:
    """Return the text of a string, or of an f-string with names for its values."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or "value" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _is_python(text: str) -> bool:
    try:
        ast.parse(textwrap.dedent(text))
    except (SyntaxError, ValueError):  # which old versions raise for NUL
        return False
    return True


def lines_in_strings(source: str) -> int:
    """Count the lines of Python within strings that are not docstrings."""
    nodes = list(ast.walk(ast.parse(source)))
    skipped = {node.value for node in nodes if isinstance(node, ast.Expr)}
    skipped |= {part for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    texts = [_text(node).strip() for node in nodes if node not in skipped]
    lengths = [len(text.splitlines()) for text in texts if _is_python(text)]
    return sum(length for length in lengths if length >= SHORT)


def _counted(folder: Path) -> int:
    return sum(lines_in_strings(path.read_text("utf-8")) for path in folder.rglob("*.py"))


def test_lines_in_strings_are_counted() -> None:
    program = "a = 1\n" * SHORT
    assert lines_in_strings(f'run("""\n{program}""")\nrun(f"""\n{program}b = {{1}}\n""")\n') == 11
    assert lines_in_strings(f'"""\n{program}"""\nrun("""not a program\n{program}""")\n') == 0


def test_device_programs_are_files() -> None:
    assert _counted(TESTS / "cuda") <= 40


def test_embedded_programs_do_not_grow() -> None:
    assert _counted(TESTS) <= 1500
