"""Every claim of README.md and of two pages has an entry in claims.json, which names its tests.

The entries are grouped by the pages and their sections. The key of an entry is the beginning of the
claim, without its list marker and with its lines joined; the value lists tests and benchmarks.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from dali_core._registry.specs import all_specs
from docs.generator.groups import GROUPS, OTHERS, grouped

ROOT = Path(__file__).parents[2]
INTERNALS = ROOT / "docs/internals"
README = (ROOT / "README.md").read_text("utf-8")
FEATURES = (ROOT / "docs/features.md").read_text("utf-8")
INSTALLATION = (ROOT / "docs/installation.md").read_text("utf-8")
CLAIMS: dict[str, dict[str, dict[str, list[str]]]] = json.loads(
    Path(__file__).with_name("claims.json").read_text("utf-8")
)
ENTRIES = [
    (page, section, beginning)
    for page, sections in CLAIMS.items()
    for section, entries in sections.items()
    for beginning in entries
]
NAMED = [name for page, section, beginning in ENTRIES for name in CLAIMS[page][section][beginning]]
CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


def blocks(page: str) -> list[tuple[str, str]]:
    """Return the paragraphs and list entries of a page, each with the title of its section."""
    found = []
    text = CODE.sub("", (ROOT / page).read_text("utf-8"))
    for part in re.split(r"^##? ", text, flags=re.MULTILINE)[1:]:
        title, _, text = part.partition("\n")
        for block in re.split(r"\n{2,}|\n(?=- )", text.strip()):
            found.append((title, " ".join(block.split()).removeprefix("- ")))
    return found


def claims(page: str) -> list[tuple[str, str]]:
    """Return the blocks that must have entries; the others may have them."""
    found = []
    for title, block in blocks(page):
        prose = re.match(r"[A-Z0-9\[*`]", block) is not None
        # A paragraph that introduces a program or a table need not be a claim, nor how to proceed.
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


@pytest.mark.parametrize("page", ["README.md", "docs/features.md"])
def test_every_claim_has_an_entry(page: str) -> None:
    found = claims(page)
    assert len(found) >= 8
    missing = [
        (title, block)
        for title, block in found
        if not any(block.startswith(beginning) for beginning in CLAIMS[page].get(title, ()))
    ]
    assert missing == []


@pytest.mark.parametrize(("page", "section", "beginning"), ENTRIES)
def test_every_entry_is_a_claim(page: str, section: str, beginning: str) -> None:
    """Entries quote the beginning of exactly one paragraph or list entry."""
    assert CLAIMS[page][section][beginning]
    found = [
        block for title, block in blocks(page) if title == section and block.startswith(beginning)
    ]
    assert len(found) == 1


def test_readme_fits_on_one_screen() -> None:
    assert len(README.splitlines()) <= 90


def test_only_measurements_are_marked_in_the_source() -> None:
    comments = re.findall(r"<!-- (.*?) -->", README, re.DOTALL)
    assert [text for text in comments if not text.startswith("measured numbers: ")] == []


def test_numbers_of_operators() -> None:
    public = [spec for spec in all_specs().values() if not spec.is_internal]
    on_gpus = [spec for spec in public if "gpu" in spec.devices]
    comparison = (ROOT / "docs/comparison.md").read_text("utf-8")
    pattern = r"(\d+) of (?:the )?(\d+)(?:\s+operators| \|)"
    for text in (README, FEATURES, comparison):
        claimed = re.search(pattern, text)
        assert claimed is not None
        assert [int(number) for number in claimed.groups()] == [len(on_gpus), len(public)]


def rows_of(text: str) -> dict[str, list[str]]:
    """Return the rows of the table of loaders, by their first cells."""
    rows = [line.strip("| ").split(" | ") for line in re.findall(r"(?m)^\| .* \|$", text)]
    return {row[0]: row[1:] for row in rows if len(row) > 5}


def test_tables_of_other_loaders_agree() -> None:
    """The table of README.md is the short form of that with the sources."""
    short = rows_of(README)
    long = rows_of((ROOT / "docs/comparison.md").read_text("utf-8"))
    shared = short.keys() & long.keys()
    assert len(shared) >= 5
    for row in shared:
        for brief, full in zip(short[row], long[row], strict=True):
            assert brief.partition(" ")[0].strip(",:") in full, row


def test_groups_have_every_operator() -> None:
    found = grouped()
    assert OTHERS not in found
    listed = [name for names in found.values() for name in names]
    present = {name for name, spec in all_specs().items() if not spec.deprecated}
    assert sorted(listed) == sorted(present)
    for pattern in (pattern for patterns in GROUPS.values() for pattern in patterns):
        assert any(name.startswith(pattern.removesuffix("*")) for name in present), pattern


def test_commands_exist() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for text in (README, INSTALLATION):
        assert {"demo", "test"} <= set(re.findall(r"`make (\w+)", text)) <= targets


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
