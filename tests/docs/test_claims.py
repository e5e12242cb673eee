"""Claims of README.md: each is followed by a comment with the tests that verify it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from dali_core._graph.registry import all_specs

ROOT = Path(__file__).parents[2]
INTERNALS = ROOT / "docs/internals"
README = (ROOT / "README.md").read_text("utf-8")
COMMENT = re.compile(r"<!-- ((?:\w+/)+.*?) -->", re.DOTALL)
NAMED = [name.strip() for comment in COMMENT.findall(README) for name in comment.split(",")]
CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


def claims() -> list[str]:
    """Return the paragraphs and list entries of the text, each with its comments."""
    text = CODE.sub("", README)
    blocks = re.split(r"\n{2,}|\n(?=- )", text)
    prose = [block.strip() for block in blocks if re.match(r"\s*(- )?[A-Z0-9\[*`]", block)]
    # Sentences that continue after a program belong to it.
    return [block for block in prose if not block.endswith(":")]


def names_in(path: Path) -> set[str]:
    """Return the names of the tests in a file."""
    text = path.read_text("utf-8")
    if path.suffix == ".cpp":
        return set(re.findall(r"^TEST\((\w+)\)", text, re.MULTILINE))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, functions)}


@pytest.mark.parametrize("named", sorted(set(NAMED)))
def test_named_tests_exist(named: str) -> None:
    path, _, name = named.partition("::")
    if path.startswith("benchmarks/"):
        assert name == ""
        assert 'if __name__ == "__main__":' in (ROOT / path).read_text("utf-8")
    else:
        assert name in names_in(ROOT / path)


def test_every_claim_names_a_test() -> None:
    found = claims()
    assert len(found) > 30
    assert [claim for claim in found if not COMMENT.search(claim)] == []


def test_numbers_of_operators() -> None:
    public = [spec for spec in all_specs().values() if not spec.is_internal]
    on_gpus = [spec for spec in public if "gpu" in spec.devices]
    claimed = re.search(r"(\d+) of the (\d+)\s+operators", README)
    assert claimed is not None
    assert [int(number) for number in claimed.groups()] == [len(on_gpus), len(public)]


def test_table_has_every_operator() -> None:
    table = "".join(re.findall(r"^\| (?!group).*$", README.partition("## Status")[2], re.MULTILINE))
    listed = set(re.findall(r"`([\w.*]+)`", table))
    groups = {name.removesuffix("*") for name in listed if name.endswith(".*")}
    present = {name for name, spec in all_specs().items() if not spec.is_internal}
    missing = {name for name in present - listed if not name.startswith(tuple(groups))}
    assert {name for name in missing if not all_specs()[name].deprecated} == set()
    assert {name for name in listed if not name.endswith(".*")} <= present
    assert all(any(name.startswith(group) for name in present) for group in groups)


def test_commands_exist() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert {"demo", "test"} <= set(re.findall(r"`make (\w+)", README)) <= targets
    environments = set(re.findall(r"`tox -e (\w+)`", README))
    sections = re.findall(r"^\[testenv:(.*)\]", (ROOT / "tox.ini").read_text("utf-8"), re.MULTILINE)
    assert environments <= set(sections)


def test_benchmarks_are_listed() -> None:
    listed = re.findall(r"python -m (benchmarks[\w.]*)", (ROOT / "CONTRIBUTING.md").read_text())
    files = {f"{module.replace('.', '/')}.py" for module in listed if module != "benchmarks"}
    named = {name for name in NAMED if name.startswith("benchmarks/")}
    assert named <= files | {"benchmarks/__main__.py"}


def links_of(page: Path) -> list[Path]:
    """Return the files that a page links to."""
    targets = re.findall(r"\]\(([^)#\s]+)\)", page.read_text("utf-8"))
    return [page.parent / target for target in targets if ":" not in target]


@pytest.mark.parametrize("name", ["README.md", "dali_core/ARCHITECTURE.md"])
def test_links_lead_somewhere(name: str) -> None:
    targets = links_of(ROOT / name)
    assert targets
    assert [target for target in targets if not target.exists()] == []


@pytest.mark.parametrize(
    "name", ["dali_core/ARCHITECTURE", *sorted(path.stem for path in INTERNALS.glob("*.md"))]
)
def test_files_that_internals_name_exist(name: str) -> None:
    """Names of files and folders, from any folder of the package on."""
    page = ROOT / "dali_core/ARCHITECTURE.md" if "/" in name else INTERNALS / f"{name}.md"
    text = page.read_text("utf-8")
    paths = re.findall(r"`([\w./]+(?:/|\.py|\.pyx|\.cpp|\.hpp|\.cu|\.\*))`", text)
    package = ROOT / "dali_core"
    missing = [
        path
        for path in paths
        if not any((folder / path).exists() for folder in (ROOT, package))
        and not any(package.rglob(path.rstrip("/")))
    ]
    assert missing == []
