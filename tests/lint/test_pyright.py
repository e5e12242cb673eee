"""Pyright accepts the programs that mypy accepts, and rejects the same wrong calls.

It comes as basedpyright, which carries the Node.js that it runs in; its rules are set to pyright's.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.lint.test_user_programs import HEADER, RIGHT, WRONG

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[int, str]]:
    """The messages of each program, by line."""
    folder = tmp_path_factory.mktemp("programs")
    for program in (ROOT / "tests/lint/programs").glob("*.py"):
        shutil.copy(program, folder)
    (folder / "right_calls.py").write_text(RIGHT, "utf-8")
    calls = "\n".join([*HEADER, *(f"    {call}" for call, _ in WRONG), ""])
    (folder / "wrong_calls.py").write_text(calls, "utf-8")
    settings = {
        "typeCheckingMode": "standard",
        "extraPaths": [str(ROOT), str(ROOT / "adapters"), sysconfig.get_path("purelib")],
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "basedpyright", "--outputjson"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    report = json.loads(done.stdout)
    assert report["summary"]["filesAnalyzed"] == len(list(folder.glob("*.py")))
    found: dict[str, dict[int, str]] = {path.name: {} for path in folder.glob("*.py")}
    for message in report["generalDiagnostics"]:
        if message["severity"] == "error":
            lines = found[Path(message["file"]).name]
            lines[message["range"]["start"]["line"] + 1] = message["message"]
    return found


def test_right_programs_pass(errors: dict[str, dict[int, str]]) -> None:
    assert {name: lines for name, lines in errors.items() if lines}.keys() == {"wrong_calls.py"}


def test_wrong_calls_are_found(errors: dict[str, dict[int, str]]) -> None:
    for number, (call, _) in enumerate(WRONG, start=len(HEADER) + 1):
        assert number in errors["wrong_calls.py"], call
