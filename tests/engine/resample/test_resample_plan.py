"""Plans of resampling, in C++, with sanitizers and every instruction set."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compiled_programs import KERNELS, VOCABULARY
from tests.engine.build_and_run import HERE as OF_ENGINE
from tests.engine.build_and_run import run_operators

HERE = Path(__file__).parent
SOURCES = [
    HERE / "resample_plan.cpp",
    OF_ENGINE / "main.cpp",
    *sorted(
        path
        for path in (KERNELS / "resample").glob("resample*.cpp")
        if not path.stem.endswith("_device")
    ),
    *VOCABULARY,
]


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_native_resample_plans(level: str) -> None:
    printed = run_operators("resample_plan", SOURCES, DALI_CORE_SIMD=level)
    assert "6 tests run, 0 failed" in printed
