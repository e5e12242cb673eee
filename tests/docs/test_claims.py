"""Every claim of README.md has an entry in claims.json, which names the tests that verify it.

The entries are grouped by the sections of README.md. The key of an entry is the beginning of the
claim, without its list marker and with its lines joined; the value lists tests and benchmarks.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from dali_core._registry.specs import all_specs

ROOT = Path(__file__).parents[2]
INTERNALS = ROOT / "docs/internals"
README = (ROOT / "README.md").read_text("utf-8")
CLAIMS: dict[str, dict[str, list[str]]] = json.loads(
    Path(__file__).with_name("claims.json").read_text("utf-8")
)
ENTRIES = [(section, beginning) for section in CLAIMS for beginning in CLAIMS[section]]
NAMED = [name for entries in CLAIMS.values() for names in entries.values() for name in names]
CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


def blocks() -> list[tuple[str, str]]:
    """Return the paragraphs and list entries of README.md, each with the title of its section."""
    found = []
    for part in re.split(r"^##? ", CODE.sub("", README), flags=re.MULTILINE)[1:]:
        title, _, text = part.partition("\n")
        for block in re.split(r"\n{2,}|\n(?=- )", text.strip()):
            found.append((title, " ".join(block.split()).removeprefix("- ")))
    return found


def claims() -> list[tuple[str, str]]:
    """Return the blocks that must have entries; the others may have them."""
    found = []
    for title, block in blocks():
        prose = re.match(r"[A-Z0-9\[*`]", block) is not None
        # A paragraph that introduces a program or a table need not be a claim.
        if title in ("Guarantees", "Features") or (prose and not block.endswith(":")):
            found.append((title, block))
    return found


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


def test_every_claim_has_an_entry() -> None:
    found = claims()
    assert len(found) > 30
    missing = [
        (title, block)
        for title, block in found
        if not any(block.startswith(beginning) for beginning in CLAIMS.get(title, ()))
    ]
    assert missing == []


@pytest.mark.parametrize(("section", "beginning"), ENTRIES)
def test_every_entry_is_a_claim(section: str, beginning: str) -> None:
    """Entries quote the beginning of exactly one paragraph or list entry."""
    assert CLAIMS[section][beginning]
    found = [block for title, block in blocks() if title == section and block.startswith(beginning)]
    assert len(found) == 1


def test_only_measurements_are_marked_in_the_source() -> None:
    comments = re.findall(r"<!-- (.*?) -->", README, re.DOTALL)
    assert [text for text in comments if not text.startswith("measured numbers: ")] == []


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
