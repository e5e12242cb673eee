"""Traces have the kernels and copies of a device, which are timed only while somebody traces."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cuda.simulated_driver import run_program

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")

# One batch at a time where calls are counted: none is computed meanwhile.


def test_kernels_and_copies(tmp_path: Path) -> None:
    run_program("device_trace/kernels_and_copies", arguments=[str(tmp_path / "run.json")])


def test_no_timing_without_tracing(tmp_path: Path) -> None:
    run_program("device_trace/no_timing_without_tracing", arguments=[str(tmp_path / "run.json")])


def test_tracing_without_timed_events(tmp_path: Path) -> None:
    run_program("device_trace/tracing_without_timed_events", arguments=[str(tmp_path / "run.json")])
