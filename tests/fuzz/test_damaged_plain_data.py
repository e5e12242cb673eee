"""Damaged documents and states: no crash, no hang, and one class of errors.

``python -m tests.fuzz.damage_documents 5000 0`` and ``damage_states`` do the same for longer.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("program", "count", "passed"),
    [("damage_documents", 800, "read"), ("damage_states", 600, "loaded")],
)
def test_damage_raises_or_is_harmless(program: str, count: int, passed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", f"tests.fuzz.{program}", str(count), "0"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"after {done.stderr[-2000:]}"
    result = json.loads(done.stdout)
    assert result["wrong"] == []
    assert result[passed] + result["refused"] == count
    assert result[passed] > count // 20, "what is sound but for a detail can be read"
