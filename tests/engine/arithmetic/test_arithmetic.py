"""Expressions, conversions and indices in C++, with sanitizers and every instruction set."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compiled_programs import CORE, KERNELS, WHOLE_ENGINE
from tests.engine.build_and_run import HERE as OF_ENGINE
from tests.engine.build_and_run import run_operators

HERE = Path(__file__).parent
SOURCES = [
    HERE / "arithmetic.cpp",
    OF_ENGINE / "main.cpp",
    CORE / "operators" / "arithmetic" / "arithmetic.cpp",
    CORE / "operators" / "subscript" / "subscript.cpp",
    KERNELS / "convert" / "convert_elements.cpp",
    KERNELS / "flip" / "mirror_row.cpp",
    *sorted((KERNELS / "elementwise").glob("*.cpp")),
    *WHOLE_ENGINE,
]


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_native_arithmetic(level: str) -> None:
    printed = run_operators("arithmetic", SOURCES, DALI_CORE_SIMD=level)
    assert "7 tests run, 0 failed" in printed
