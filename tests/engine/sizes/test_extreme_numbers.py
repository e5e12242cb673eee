"""Operators that compute sizes from their arguments, in C++ with sanitizers."""

from __future__ import annotations

from pathlib import Path

from tests.compiled_programs import CORE, KERNELS, WHOLE_ENGINE
from tests.engine.build_and_run import HERE as OF_ENGINE
from tests.engine.build_and_run import run_operators

HERE = Path(__file__).parent
OPERATORS = """
    cat/cat clahe/clahe constant/constant crop/crop erase/erase expand_dims/expand_dims full/full
    jitter/jitter
    multi_paste/multi_paste one_hot/one_hot pad/pad paste/paste
    random/coin_flip/coin_flip random/uniform/uniform
    random_crop_generator/random_crop_generator reinterpret/reinterpret reshape/reshape
    roi_random_crop/roi_random_crop slice/slice squeeze/squeeze stack/stack
    zeros/zeros
"""
FAMILIES = ("color", "convert", "fill", "reshape", "window")
SOURCES = [
    HERE / "extreme_numbers.cpp",
    OF_ENGINE / "main.cpp",
    tuple(CORE / "operators" / f"{name}.cpp" for name in OPERATORS.split()),
    *(path for name in FAMILIES for path in sorted((KERNELS / name).glob("*.cpp"))),
    *WHOLE_ENGINE,
]


def test_extreme_numbers() -> None:
    printed = run_operators("extreme_numbers", SOURCES, DALI_CORE_MEMORY_LIMIT=str(1 << 26))
    assert "2 tests run, 0 failed" in printed
