"""Damaged audio files: none crashes the process, and each is decoded or a bad sample."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hanging import HANG_SECONDS

pytest.importorskip("soundfile", reason="not available: soundfile")


def test_mutated_audio() -> None:
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.mutated_audio", "0", "1000"]
    result = subprocess.run(
        command,
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr[-4000:]
    found = re.search(r"'bad': (\d+)", result.stdout)
    assert found is not None
    assert 100 < int(found[1]) < 900
