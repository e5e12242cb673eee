"""Each fuzz target for a short time, with AddressSanitizer and UBSan."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.compiled_programs import INCLUDES, SANITIZERS, build_program, require_compiler
from tests.fuzz import build_and_run

SECONDS = 3


@pytest.fixture(autouse=True)
def _needs_sanitizers() -> None:
    require_compiler(f"-fsanitize={SANITIZERS}")


@pytest.mark.parametrize("target", build_and_run.TARGETS)
def test_fuzz_target_finds_no_failure(target: str, tmp_path: Path) -> None:
    corpus = build_and_run.write_corpus(tmp_path / "corpus", target)
    # Optimising takes longer than running for so short a time.
    program = build_and_run.build(target, "-O0")
    result = build_and_run.run(program, corpus, SECONDS, tmp_path)
    assert result.returncode == 0, result.stdout
    assert not list(tmp_path.glob("failing_input")), result.stdout


def test_a_failure_is_found_and_its_input_kept(tmp_path: Path) -> None:
    source = tmp_path / "reads_too_far.cpp"
    source.write_text(
        '#include "tests/fuzz/target.hpp"\n'
        'extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {\n'
        "  const ExactCopy copy(data, size);\n"
        "  if (size < 2 || copy.data()[0] != 'a' || copy.data()[1] != 'b') return 0;\n"
        "  const volatile uint8_t beyond = copy.data()[size];\n"
        "  return beyond == 0 ? 0 : 0;\n"
        "}\n"
    )
    flags = ["-std=c++17", *INCLUDES, f"-fsanitize={SANITIZERS}"]
    program = build_program("reads_too_far", [source, build_and_run.DRIVER], flags)
    (tmp_path / "input").write_bytes(b"abcd")
    result = subprocess.run(
        [program, "-save", str(tmp_path), str(tmp_path / "input")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode != 0
    assert "heap-buffer-overflow" in result.stderr
    assert (tmp_path / "failing_input").read_bytes() == b"abcd"
