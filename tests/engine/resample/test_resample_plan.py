"""Plans of resampling, in C++, under sanitizers and with every instruction set."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.engine import build_and_run

HERE = Path(__file__).parent
ROOT = HERE.parents[2]


def build(folder: Path, sanitize: bool) -> Path:
    """Compile the test program."""
    flags = ["-std=c++17", "-O1", "-g1", "-Wall", "-Wextra", "-ffp-contract=off"]
    if sanitize:
        flags += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    program = folder / "resample_plan"
    resampling = (ROOT / "dali_core" / "operators" / "resize").glob("resample_*.cpp")
    sources = [
        HERE / "resample_plan.cpp",
        HERE.parent / "main.cpp",
        *sorted(path for path in resampling if not path.stem.endswith("_device")),
    ]
    includes = [f"-I{folder}" for folder in (ROOT, ROOT / "dali_core" / "include", HERE.parent)]
    command = [*build_and_run.compiler(), *flags, *includes, *map(str, sources), "-o", str(program)]
    subprocess.run(command, check=True)
    return program


def can_sanitize(folder: Path) -> bool:
    source = folder / "probe.cpp"
    source.write_text("int main() {}\n")
    command = [*build_and_run.compiler(), "-fsanitize=address,undefined", str(source)]
    found = subprocess.run(
        [*command, "-o", str(folder / "probe")], capture_output=True, check=False
    )
    return found.returncode == 0


def test_plans(tmp_path: Path) -> None:
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
