"""Operators on histograms of images on a device."""

from __future__ import annotations

import pytest

from tests.cuda.simulated_driver import run_simulated

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


@pytest.mark.parametrize("sanitize", [False, True])
def test_equal_to_the_host(sanitize: bool) -> None:
    program = """
from tests.cuda.programs import histograms

histograms.check_equalize()
histograms.check_unaligned_input(1)
histograms.check_unaligned_input(3)
"""
    run_simulated(program, sanitize=sanitize)
