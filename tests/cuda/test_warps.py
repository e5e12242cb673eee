"""Affine warps on a device."""

from __future__ import annotations

import pytest

from tests.cuda.simulated_driver import run_simulated

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")

CHECKS = ["rotate", "warp_affine", "sequences", "volumes", "long_rows"]


@pytest.mark.parametrize("check", CHECKS)
def test_equal_to_the_host(check: str) -> None:
    program = f"""
from tests.cuda.programs import warps

warps.check_{check}()
"""
    assert run_simulated(program) == ""


def test_no_access_out_of_bounds() -> None:
    program = f"""
from tests.cuda.programs import warps

for check in {CHECKS[:4]}:
    getattr(warps, f"check_{{check}}")()
"""
    run_simulated(program, sanitize=True, env={"DALI_CORE_EXAMPLES": "15"})
