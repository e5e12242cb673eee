"""Damaged archives and files of records: none crashes the process, and each is detected or read."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hanging import HANG_SECONDS

ROOT = Path(__file__).parents[1]
pytest.importorskip("lmdb", reason="not available: lmdb")


def test_mutated_archives() -> None:
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.mutated_archives"]
    result = subprocess.run(
        [*command, "0", "300"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    progress = result.stdout.splitlines()[-1:]
    assert result.returncode == 0, f"after {progress}: {result.stderr[-4000:]}"
    found = re.findall(r"(\w+): 300 files, (\d+) good, (\d+) bad", result.stdout)
    assert [kind for kind, _, _ in found] == ["tar", "tfrecord", "recordio", "lmdb"]
    assert all(int(good) > 100 and int(bad) > 100 for _, good, bad in found)
