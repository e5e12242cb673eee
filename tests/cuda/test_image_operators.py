"""Operators on images on a device."""

from __future__ import annotations

import pytest

from tests.cuda.simulated_driver import run_simulated

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")

CHECKS = [
    "examples",
    "usual_chain",
    "large_batch",
    "windows",
    "flips",
    "normalizations",
    "resizings",
    "chains",
]


@pytest.mark.parametrize("check", CHECKS)
def test_equal_to_the_host(check: str) -> None:
    program = f"""
from tests.cuda.programs import image_operators

image_operators.check_{check}()
"""
    assert run_simulated(program) == ""


def test_no_access_out_of_bounds() -> None:
    program = f"""
from tests.cuda.programs import image_operators

for check in {CHECKS}:
    if check != "large_batch":
        getattr(image_operators, f"check_{{check}}")()
"""
    run_simulated(program, sanitize=True, env={"DALI_CORE_EXAMPLES": "15"})
