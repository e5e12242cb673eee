"""The example for JAX learns, and prints its accuracy."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hanging import HANG_SECONDS

pytest.importorskip("jax", reason="not available: JAX")

ROOT = Path(__file__).parents[2]
PROGRAM = ["-m", "examples.train_jax"]


def test_loss_decreases(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, *PROGRAM, "--work", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    losses = [float(loss) for loss in re.findall(r"^epoch \d+: loss (.*)$", done.stdout, re.M)]
    assert len(losses) == 12
    assert losses[-1] < 0.6 * losses[0]
    (accuracy,) = re.findall(r"^accuracy: (.*) %$", done.stdout, re.M)
    assert float(accuracy) > 50  # of four classes
