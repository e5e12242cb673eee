"""The engine's own tests, plain and under sanitizers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.engine import build_and_run


def _links(folder: Path, sanitize: str) -> bool:
    source = folder / "probe.cpp"
    source.write_text("int main() {}\n")
    flags = [f"-fsanitize={sanitize}"] * bool(sanitize)
    command = [*build_and_run.compiler(), *flags, str(source), "-o", str(folder / "probe")]
    return (
        shutil.which(command[0]) is not None
        and subprocess.run(command, capture_output=True, check=False).returncode == 0
    )


@pytest.mark.parametrize("sanitize", ["", "thread", "address,undefined"])
def test_engine(sanitize: str, tmp_path: Path) -> None:
    if not _links(tmp_path, sanitize):
        pytest.skip(f"not available: a C++ compiler with -fsanitize={sanitize}")
    result = build_and_run.run(sanitize)
    assert result.returncode == 0, result.stdout
    assert ", 0 failed" in result.stdout


def test_a_failing_check_is_reported(tmp_path: Path) -> None:
    if not _links(tmp_path, ""):
        pytest.skip("not available: a C++ compiler")
    source = tmp_path / "failing.cpp"
    source.write_text(
        '#include "check.hpp"\n'
        "TEST(arithmetic) { CHECK_EQUAL(1 + 1, 3); }\n"
        "TEST(nothing_thrown) { CHECK_THROWS(1, std::runtime_error); }\n"
    )
    here = Path(build_and_run.__file__).parent
    program = tmp_path / "failing"
    command = [*build_and_run.compiler(), "-std=c++17", f"-I{here}", "-o", str(program)]
    subprocess.run([*command, str(source), str(here / "main.cpp")], check=True)
    result = subprocess.run([program], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "1 + 1 must be 3 (got 2)" in result.stdout
    assert "1 must throw std::runtime_error" in result.stdout
    assert "2 tests run, 2 failed" in result.stdout
