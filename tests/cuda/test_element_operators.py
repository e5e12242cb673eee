"""Operators on elements on a device."""

from __future__ import annotations

import pytest

from tests.cuda.simulated_driver import run_simulated

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")

CHECKS = [
    "casts",
    "transpositions",
    "expressions",
    "joins_and_parts",
    "random_numbers",
    "division_by_zero",
    "fusing",
]


@pytest.mark.parametrize("check", CHECKS)
def test_equal_to_the_host(check: str) -> None:
    program = f"""
from tests.cuda.programs import element_operators

element_operators.check_{check}()
"""
    assert run_simulated(program) == ""


def test_no_access_out_of_bounds() -> None:
    program = f"""
from tests.cuda.programs import element_operators

for check in {CHECKS}:
    getattr(element_operators, f"check_{{check}}")()
"""
    run_simulated(program, sanitize=True, env={"DALI_CORE_EXAMPLES": "8"})
