"""Damage in any cache never changes what is read; see tests/damaged_caches.py."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hanging import HANG_SECONDS

ROOT = Path(__file__).parents[1]


def test_damaged_caches(tmp_path: Path) -> None:
    pytest.importorskip("fsspec", reason="not available: fsspec")
    result = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-m", "tests.damaged_caches", "0", "140"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert result.returncode == 0, result.stderr[-4000:]
    counts = dict(re.findall(r"(.+): (\d+)", result.stdout))
    warned = int(counts.pop("warned"))
    assert sum(map(int, counts.values())) == 140
    assert 20 < warned < 140
