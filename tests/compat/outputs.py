"""Runs programs for NVIDIA DALI, and compares their output."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

from tests.hanging import HANG_SECONDS

PROGRAMS = {path.stem: path for path in (Path(__file__).parent / "programs").glob("*.py")}
ROOT = Path(__file__).parents[2]


def run_with(*options: str, program: str | Path, cwd: Path) -> str:
    """Run a program in a separate process, and return its output."""
    result = subprocess.run(
        [sys.executable, *options, str(program)],
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        cwd=cwd,
        # If this library is not installed, it is imported from the source tree.
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "adapters")])},
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def assert_same(ours: str, theirs: str, tolerance: float) -> None:
    """Compare word by word: words with a decimal point may differ slightly."""
    our_lines, their_lines = ours.splitlines(), theirs.splitlines()
    assert len(our_lines) == len(their_lines), ours
    for our_line, their_line in zip(our_lines, their_lines, strict=True):
        our_words, their_words = our_line.split(), their_line.split()
        assert len(our_words) == len(their_words), (our_line, their_line)
        for our_word, their_word in zip(our_words, their_words, strict=True):
            if our_word != their_word:
                assert "." in our_word, (our_line, their_line)
                assert math.isclose(float(our_word), float(their_word), abs_tol=tolerance), (
                    our_line,
                    their_line,
                )
