"""Convolutions on a device."""

from __future__ import annotations

import pytest

from tests.cuda.simulated_driver import run_simulated

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")

CHECKS = ["gaussian_blur", "tiles", "laplacian", "filter", "special_numbers", "frames"]


@pytest.mark.parametrize("check", CHECKS)
def test_equal_to_the_host(check: str) -> None:
    program = f"""
from tests.cuda.programs import convolutions

convolutions.check_{check}()
"""
    assert run_simulated(program) == ""


def test_no_access_out_of_bounds() -> None:
    program = f"""
from tests.cuda.programs import convolutions

for check in {CHECKS}:
    getattr(convolutions, f"check_{{check}}")()
"""
    run_simulated(program, sanitize=True, env={"DALI_CORE_EXAMPLES": "10"})
