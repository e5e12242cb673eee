"""Ten thousand damaged images: none crashes the process, and each is detected."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hanging import HANG_SECONDS

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("first", [0, 2500, 5000, 7500])
def test_mutated_images(first: int) -> None:
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.mutated_images"]
    result = subprocess.run(
        [*command, str(first), "2500"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    progress = result.stdout.splitlines()[-1:]
    assert result.returncode == 0, f"after {progress}: {result.stderr[-4000:]}"
    found = re.search(r"2500 images, (\d+) bad", result.stdout)
    assert found is not None
    assert 500 < int(found[1]) < 2000
