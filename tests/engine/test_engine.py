"""The engine's own tests, under sanitizers where the compiler has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compiled_programs import (
    SANITIZERS,
    build_program,
    can_compile,
    operator_flags,
    require_compiler,
)
from tests.engine import build_and_run
from tests.engine.build_and_run import run_program


@pytest.mark.parametrize("sanitize", ["thread", SANITIZERS])
def test_native_engine_under_sanitizers(sanitize: str) -> None:
    require_compiler()
    result = build_and_run.run(sanitize if can_compile(f"-fsanitize={sanitize}") else "")
    assert result.returncode == 0, result.stdout
    assert ", 0 failed" in result.stdout


def test_a_failing_check_is_reported(tmp_path: Path) -> None:
    require_compiler()
    source = tmp_path / "failing.cpp"
    source.write_text(
        '#include "check.hpp"\n'
        "TEST(arithmetic) { CHECK_EQUAL(1 + 1, 3); }\n"
        "TEST(nothing_thrown) { CHECK_THROWS(1, std::runtime_error); }\n"
    )
    sources = [source, build_and_run.HERE / "main.cpp"]
    program = build_program("failing", sources, operator_flags(sanitize=False))
    result = run_program([str(program)])
    assert result.returncode == 1
    assert "1 + 1 must be 3 (got 2)" in result.stdout
    assert "1 must throw std::runtime_error" in result.stdout
    assert "2 tests run, 2 failed" in result.stdout
