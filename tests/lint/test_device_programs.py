"""Programs that tests of devices run: each asserts something, or its test looks at its output.

A process that ends with an error fails its test, so a program without assertions would pass as
long as it does not crash.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "cuda"
PROGRAMS = FOLDER / "programs"


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def asserts(tree: ast.AST) -> bool:
    """Return whether code asserts something itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Raise) and "AssertionError" in ast.unparse(node):
            return True
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            if name.startswith("assert_") or name == "raises":
                return True
    return False


def _called(tree: ast.AST) -> set[str]:
    return {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}


def _own(tree: ast.Module) -> dict[str, ast.AST]:
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {node.name: node for node in tree.body if isinstance(node, kinds)}


def _imported(tree: ast.Module) -> dict[str, tuple[Path, str]]:
    """Return the file and the name of what is imported from other tests, by its name here."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests."):
            path = ROOT.joinpath(*str(node.module).split("."))
            file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
            found |= {one.asname or one.name: (file, one.name) for one in node.names}
    return found


@cache
def _helper_asserts(path: Path, name: str) -> bool:
    """Return whether a function of a test module asserts, or calls one that does."""
    tree = _tree(path)
    own = _own(tree)
    if name not in own:
        return False
    return asserts(own[name]) or any(
        _asserts_by_name(path, called) for called in _called(own[name]) - {name}
    )


def _asserts_by_name(path: Path, name: str) -> bool:
    file, original = _imported(_tree(path)).get(name, (path, name))
    return file.exists() and _helper_asserts(file, original)


def program_asserts(path: Path) -> bool:
    """Return whether a program asserts something, itself or by helpers that it calls."""
    tree = _tree(path)
    return asserts(tree) or any(_asserts_by_name(path, name) for name in _called(tree))


def unseen_programs(tree: ast.Module) -> list[str]:
    """Return the programs that tests run without a look at their output."""
    calls = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    return [
        call.args[0].value
        for call in calls
        if isinstance(call, ast.Call)
        and ast.unparse(call.func) in ("run", "run_program")
        and call.args
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
    ]


CASES = [
    (path, name)
    for path in sorted(FOLDER.glob("test_*.py"))
    for name in unseen_programs(_tree(path))
]


def test_assertions_are_found() -> None:
    assert asserts(ast.parse("def f():\n    assert 1\n"))
    assert asserts(ast.parse("np.testing.assert_allclose(a, b)"))
    assert asserts(ast.parse("raise AssertionError('x')"))
    assert not asserts(ast.parse("print(1)\nraise SystemExit(1)"))
    assert unseen_programs(ast.parse('run("a")\nx = run("b")\nassert run_program("c")')) == ["a"]
    assert len(CASES) > 100


@pytest.mark.parametrize(("test", "program"), CASES, ids=[name for _, name in CASES])
def test_program_asserts_something(test: Path, program: str) -> None:
    assert program_asserts(PROGRAMS / f"{program}.py"), f"{test.name} runs it, and sees no output"
