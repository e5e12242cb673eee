"""Operators that make sizes out of their arguments, in C++ and under sanitizers."""

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
OPERATORS = """
    cast/convert_elements cat/cat clahe/clahe clahe/lab constant/constant crop/crop crop/window_copy
    erase/erase expand_dims/expand_dims full/fill_elements full/full jitter/jitter
    multi_paste/multi_paste one_hot/one_hot ones/ones pad/pad paste/paste
    random/coin_flip/coin_flip random/uniform/uniform
    random_crop_generator/random_crop_generator reinterpret/reinterpret reshape/reshape
    roi_random_crop/roi_random_crop slice/slice slice/slice_window squeeze/squeeze stack/stack
    zeros/zeros
"""
SOURCES = [
    HERE / "extreme_numbers.cpp",
    HERE.parent / "main.cpp",
    *(CORE / "operators" / f"{name}.cpp" for name in OPERATORS.split()),
    *(
        build_and_run.ENGINE / f"{name}.cpp"
        for name in ("argument_limits", "batch", "device_program", "guards", "sample_program")
    ),
]


def build(folder: Path, sanitize: bool) -> Path:
    """Compile the test program."""
    flags = ["-std=c++17", "-O0", "-g1", "-Wall", "-Wextra", "-ffp-contract=off"]
    if sanitize:
        flags += ["-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"]
    includes = [f"-I{path}" for path in (ROOT, CORE / "include", HERE.parent, build_and_run.ENGINE)]

    def compile_one(source: Path) -> str:
        target = folder / f"{SOURCES.index(source)}.o"
        command = [*build_and_run.compiler(), *flags, *includes, "-c", str(source), "-o"]
        subprocess.run([*command, str(target)], check=True)
        return str(target)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, SOURCES))
    program = folder / "extreme_numbers"
    subprocess.run([*build_and_run.compiler(), *flags, *objects, "-o", str(program)], check=True)
    return program


def test_extreme_numbers(tmp_path: Path) -> None:
    if shutil.which(build_and_run.compiler()[0]) is None:
        pytest.skip("not available: a C++ compiler")
    result = subprocess.run(
        [build(tmp_path, can_sanitize(tmp_path))],
        env={**os.environ, "DALI_CORE_MEMORY_LIMIT": str(1 << 26)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
    )
    assert result.returncode == 0, result.stdout
    assert "2 tests run, 0 failed" in result.stdout
