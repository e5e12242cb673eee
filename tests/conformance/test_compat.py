"""Unmodified programs print the same with NVIDIA DALI and with `dali_core.compat`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compat.outputs import PROGRAMS, assert_same, run_with

pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_program_runs_on_both(name: str, tmp_path: Path) -> None:
    theirs = run_with(program=PROGRAMS[name], cwd=tmp_path)
    ours = run_with("-m", "dali_core.compat", program=PROGRAMS[name], cwd=tmp_path)
    assert len(theirs) > 100
    # Resampling differs in the last bits, and brightness at random in the average.
    assert_same(ours, theirs, tolerance=0.2 if name == "detection_augmentation" else 0.005)
