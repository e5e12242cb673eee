"""Each fuzz target for a moment, under AddressSanitizer and UBSan."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.fuzz import build_and_run

SECONDS = 3


def _can_build(folder: Path) -> bool:
    source = folder / "probe.cpp"
    source.write_text("int main() {}\n")
    command = [*build_and_run.compiler(), f"-fsanitize={build_and_run.SANITIZERS}"]
    command += [str(source), "-o", str(folder / "probe")]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("targets")
    if not _can_build(folder):
        pytest.skip(f"not available: a C++ compiler with -fsanitize={build_and_run.SANITIZERS}")
    return build_and_run.build(folder)


@pytest.mark.parametrize("target", build_and_run.TARGETS)
def test_target(target: str, programs: dict[str, Path], tmp_path: Path) -> None:
    corpus = build_and_run.write_corpus(tmp_path / "corpus", target)
    result = build_and_run.run(programs[target], corpus, SECONDS, tmp_path)
    assert result.returncode == 0, result.stdout
    assert not list(tmp_path.glob("failing_input")), result.stdout


def test_a_failure_is_found_and_its_input_kept(tmp_path: Path) -> None:
    if not _can_build(tmp_path):
        pytest.skip(f"not available: a C++ compiler with -fsanitize={build_and_run.SANITIZERS}")
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
    program = tmp_path / "reads_too_far"
    flags = ["-std=c++17", f"-I{build_and_run.ROOT}", f"-fsanitize={build_and_run.SANITIZERS}"]
    subprocess.run(
        [
            *build_and_run.compiler(),
            *flags,
            str(source),
            str(build_and_run.DRIVER),
            "-o",
            str(program),
        ],
        check=True,
    )
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
