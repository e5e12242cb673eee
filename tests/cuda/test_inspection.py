"""`Pipeline.run_sample` for steps on a device."""

from __future__ import annotations

import pytest

from tests.cuda.simulated_driver import run_program

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


def test_samples_on_a_device() -> None:
    assert run_program("inspection/samples_on_a_device", delay=0.002).strip() == "done"
