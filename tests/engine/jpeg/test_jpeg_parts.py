"""The parts of our own JPEG decoder, with sanitizers and every instruction set."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compiled_programs import KERNELS
from tests.engine.build_and_run import HERE as OF_ENGINE
from tests.engine.build_and_run import build_operators, run_program

HERE = Path(__file__).parent
SOURCES = [
    HERE / "jpeg_parts.cpp",
    HERE / "progressive_scans.cpp",
    HERE / "reduced_dct.cpp",
    HERE / "scan_index.cpp",
    OF_ENGINE / "main.cpp",
    *(
        KERNELS / "jpeg" / f"{name}.cpp"
        for name in (
            *("jpeg_huffman", "jpeg_inverse_dct", "jpeg_reduced_dct", "jpeg_rows"),
            *("jpeg_scan_data", "jpeg_segments", "huffman_jpeg_file", "progressive_scans"),
            "scan_index",
        )
    ),
]


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_native_jpeg_parts(level: str) -> None:
    program = build_operators("jpeg_parts", SOURCES)
    result = run_program([str(program)], DALI_CORE_SIMD=level)
    assert result.returncode == 0, result.stdout
    assert "18 tests run, 0 failed" in result.stdout
