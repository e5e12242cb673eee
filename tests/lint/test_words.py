"""The prose of the project uses the standard terms of the field, in plain sentences."""

from __future__ import annotations

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

# Riddles, with the terms that stand for them. Names of identifiers are left out.
PHRASES = {
    "nobody": "unused, no other reader, not referenced",
    "somebody": "the caller, external, another owner",
    "whoever": "the caller, the owner",
    "what becomes of": "the results of",
    "goes on|go on|going on": "continues, resumes",
    "lets go|let go": "releases",
    "mend|mends": "fix",
}


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
