"""Numbers that are invalid as sizes: every operator rejects them, or returns a right result."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hanging import HANG_SECONDS

ROOT = Path(__file__).parents[2]
NUM_PARTS = 2


@pytest.mark.parametrize("part", range(NUM_PARTS))
def test_extreme_numbers(part: int) -> None:
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.operators.extreme_numbers"]
    result = subprocess.run(
        [*command, str(part), str(NUM_PARTS)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert result.returncode == 0, f"{result.stdout}\n{result.stderr[-4000:]}"
    found = re.search(r"(\d+) calls, (\d+) refused, 0 wrong", result.stdout)
    assert found is not None
    assert 0 < int(found[2]) < int(found[1])
