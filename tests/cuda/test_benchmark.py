"""The GPU benchmark runs to its end; its numbers are meaningless with the simulated driver."""

from __future__ import annotations

import pytest

from tests.cuda.simulated_driver import run_program

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


def test_gpu_benchmark_runs() -> None:
    output = run_program("benchmark/gpu_benchmark_runs")
    assert "Simulated device, driver for CUDA" in output
    assert "numbers mean nothing" in output
    for name in ("normalise to float, CHW", "transpose to CHW", "resample to a half", "copy"):
        assert f"\n{name} " in output, output
    assert "in a steady loop: " in output, output
