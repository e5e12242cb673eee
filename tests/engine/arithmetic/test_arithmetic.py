"""Expressions and indices in C++, under sanitizers and with every instruction set."""

from __future__ import annotations

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.engine import build_and_run
from tests.engine.resample.test_resample_plan import can_sanitize

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
CORE = ROOT / "dali_core"
SOURCES = [
    HERE / "arithmetic.cpp",
    HERE.parent / "main.cpp",
    *sorted(
        path
        for path in (CORE / "operators" / "arithmetic").glob("*.cpp")
        if not path.stem.endswith("_device")
    ),
    CORE / "operators" / "cast" / "convert_elements.cpp",
    CORE / "operators" / "subscript" / "subscript.cpp",
    CORE / "_runtime" / "fusion" / "broadcasting.cpp",
    CORE / "_runtime" / "fusion" / "elementwise_program.cpp",
    build_and_run.ENGINE / "argument_limits.cpp",
    build_and_run.ENGINE / "batch.cpp",
    build_and_run.ENGINE / "guards.cpp",
    build_and_run.ENGINE / "sample_program.cpp",
]


def build(folder: Path, sanitize: bool) -> Path:
    """Compile the test program."""
    flags = ["-std=c++17", "-O0", "-g1", "-Wall", "-Wextra", "-ffp-contract=off"]
    if sanitize:
        flags += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    includes = [f"-I{path}" for path in (ROOT, CORE / "include", HERE.parent, build_and_run.ENGINE)]

    def compile_one(source: Path) -> str:
        target = folder / f"{SOURCES.index(source)}.o"
        command = [*build_and_run.compiler(), *flags, *includes, "-c", str(source), "-o"]
        subprocess.run([*command, str(target)], check=True)
        return str(target)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, SOURCES))
    program = folder / "arithmetic"
    subprocess.run([*build_and_run.compiler(), *flags, *objects, "-o", str(program)], check=True)
    return program


def test_arithmetic(tmp_path: Path) -> None:
    if shutil.which(build_and_run.compiler()[0]) is None:
        pytest.skip("not available: a C++ compiler")
    program = build(tmp_path, can_sanitize(tmp_path))
    for level in ("baseline", "avx2", "avx512"):
        result = subprocess.run(
            [program],
            env={**os.environ, "DALI_CORE_SIMD": level},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert result.returncode == 0, f"{level}: {result.stdout}"
        assert "6 tests run, 0 failed" in result.stdout
