"""The prose and the names of tests use the standard terms of the field, in plain sentences."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [
    path
    for folder in ("dali_core", "adapters", "building")
    for pattern in ("*.py", "*.pyx", "*.pxd", "*.pxi", "*.hpp", "*.h", "*.cpp", "*.cu")
    for path in sorted((ROOT / folder).rglob(pattern))
]
PAGES = [
    *sorted((ROOT / "docs").rglob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "dali_core/ARCHITECTURE.md")),
]

# A module names its content; these words only promise to.
OPENING = re.compile(
    r'\s*(?:#[^\n]*\n\s*)*(?:r?"""|// |/\* |# )(What|How|Which|Where|Who|Whether)\b'
)

# Riddles, with the terms that stand for them. In prose, names of identifiers are left out.
PHRASES = {
    "nobody": "unused, no other reader, not referenced",
    "somebody": "the caller, external, another owner",
    "whoever": "the caller, the owner",
    "what becomes": "the results, what is made a value",
    "who takes": "the consumer",
    "goes on|go on|going on": "continues, resumes",
    "lets go|let go": "releases",
    "mend|mends": "fix",
}
# Names of tests are searched for: they say the subject, not a pronoun that stands for it.
PRONOUNS = {"what": "the subject", "who": "the subject", "told|tells|tell": "raises, reports"}
VERDICTS = {"refused", "refuses", "are_refused", "both_refuse", "refusals"}
TESTS = [
    path
    for path in sorted((ROOT / "tests").rglob("*.py"))
    if ROOT / "tests/cuda" not in path.parents
]
CPP_TEST = re.compile(r"^TEST\((\w+)\)", re.MULTILINE)


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_no_module_opens_with_a_question_word() -> None:
    assert SOURCES
    found = [
        _name(path) for path in SOURCES if OPENING.match(path.read_text(encoding="utf-8")[:2000])
    ]
    assert found == [], "name the content of the module"


@pytest.mark.parametrize("phrase", PHRASES, ids=lambda phrase: phrase.partition("|")[0])
def test_prose_has_no_riddles(phrase: str) -> None:
    wanted = re.compile(rf"(?<![\w.`])(?:{phrase})(?![\w(`])", re.IGNORECASE)
    found = [
        f"{_name(path)}:{number}: {line.strip()}"
        for path in (*SOURCES, *PAGES)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if wanted.search(line)
    ]
    assert found == [], f"use {PHRASES[phrase]}"


def _test_names() -> list[tuple[str, str]]:
    """Return the files and names of all tests, without their prefix."""
    found = []
    for path in TESTS:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                found.append((_name(path), node.name.removeprefix("test_")))
    for path in sorted((ROOT / "tests").rglob("*.cpp")):
        names = CPP_TEST.findall(path.read_text(encoding="utf-8"))
        found += [(_name(path), name) for name in names]
    return found


def test_names_of_tests_have_no_riddles() -> None:
    riddle = "|".join((*PHRASES, *PRONOUNS)).replace(" ", "_")
    forbidden = re.compile(rf"(?:^|_)(?:{riddle})(?:_|$)")
    names = _test_names()
    assert len(names) > 3000
    found = [entry for entry in names if forbidden.search(entry[1]) or entry[1] in VERDICTS]
    assert found == [], f"use {PHRASES | PRONOUNS}"
