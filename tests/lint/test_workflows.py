"""The workflows run targets of the Makefile and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
MATRIX = re.compile(r"^ *target: \[(.*)\]$", re.MULTILINE)


def targets_of(workflow: Path) -> set[str]:
    """Return the targets that a workflow runs, those of its matrix included."""
    text = workflow.read_text("utf-8")
    commands = re.findall(r"^ *(?:- )?run:(.*)$", text, re.MULTILINE)
    assert commands
    targets = set()
    for command in commands:
        match = re.fullmatch(r" make ([\w-]+|\$\{\{ matrix\.target \}\})", command)
        assert match is not None, f"{workflow.name}: run must be `make TARGET` (got{command})"
        targets.add(match[1])
    in_matrix = {name.strip() for names in MATRIX.findall(text) for name in names.split(",")}
    return {name for name in targets if "matrix" not in name} | in_matrix


def test_workflows_for_tests_and_wheels_exist() -> None:
    assert [workflow.stem for workflow in WORKFLOWS] == ["tests", "wheels"]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_existing_targets(workflow: Path) -> None:
    assert targets_of(workflow) <= TARGETS


def test_workflows_run_the_targets_of_continuous_integration() -> None:
    commands = re.findall(
        r"^make (\w+) &$", (ROOT / ".ci" / "run").read_text("utf-8"), re.MULTILINE
    )
    assert commands
    assert set(commands) | {"lint"} == targets_of(ROOT / ".github" / "workflows" / "tests.yml")
