"""Forks, exits and threads with pending and computed values."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dali_core.dynamic as dd

PROGRAMS = Path(__file__).parent / "programs"


def _child(queue: Any, value: Any, pending: Any) -> None:
    computed = dd.flip(dd.flip(value))
    queue.put([np.asarray(dd.as_tensor(v)).sum() for v in (computed, pending)])


@pytest.mark.filterwarnings("ignore:.*fork")
def test_forked_children_compute() -> None:
    images = dd.as_batch([np.full((16, 16, 3), number, np.uint8) for number in range(8)])
    value = (images + 1).evaluate()
    pending = value * 2
    context = multiprocessing.get_context("fork")
    for _ in range(3):
        queue = context.Queue()
        child = context.Process(target=_child, args=(queue, value, pending))
        child.start()
        assert queue.get(timeout=60) == [36 * 768, 72 * 768]
        child.join(60)
        assert child.exitcode == 0
    assert np.asarray(dd.as_tensor(pending)).sum() == 72 * 768


@pytest.mark.parametrize("what", ["pending", "running", "computed", "reading"])
def test_exit_with_values(what: str, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for number in range(6):
        (tmp_path / "a" / f"{number}.png").write_bytes(bytes([number] * 100))
    done = subprocess.run(
        [sys.executable, PROGRAMS / "exits.py", what, tmp_path],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")
