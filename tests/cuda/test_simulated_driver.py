"""The simulated driver itself, by programs that call it through the bindings."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cuda.simulated_driver import run_program, run_simulated

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")
HERE = Path(__file__).parent
KERNELS = HERE / "kernels" / "simulated.cu"
OLDER = {"DALI_CORE_SIMULATED_COMPUTE_CAPABILITY": "8.6"}


def run(name: str, **options: Any) -> str:
    return run_program(f"simulated_driver/{name}", **options)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("devices", {"devices": 2, "memory_limit": 1 << 30, "env": OLDER}),
        # These test accesses that the sanitizer would report.
        ("memory", {"devices": 2, "memory_limit": 1 << 30, "sanitize": False}),
        ("pools", {"devices": 2}),
        ("streams", {"devices": 2, "sanitize": False}),
        ("kernels", {"env": OLDER}),
        ("faults", {}),
        # Fibers are announced to the sanitizer.
        pytest.param("kernels", {"env": OLDER, "sanitize": True}, id="kernels-sanitized"),
    ],
)
def test_simulated_driver_program(name: str, options: dict[str, Any]) -> None:
    assert run(name, **options) == ""


def test_images_of_the_compiler() -> None:
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc", reason="not available: cuda-bindings")
    try:
        nvrtc.nvrtcVersion()
    except RuntimeError:
        pytest.skip("not available: NVRTC (package nvidia-cuda-nvrtc-cu12)")
    # NVRTC does not find its other library under the sanitizer, which opens libraries for it.
    assert run("images", env=OLDER, sanitize=False) == ""


@pytest.mark.parametrize(
    ("program", "found", "place"),
    [
        ("read_out_of_bounds", "heap-buffer-overflow", "input[index + 1]"),
        ("read_freed_memory", "heap-use-after-free", "addresses[index][0]"),
    ],
)
def test_sanitizer_reports_the_line(program: str, found: str, place: str) -> None:
    lines = KERNELS.read_text("utf-8").splitlines()
    (line,) = (number for number, text in enumerate(lines, 1) if place in text)
    output = run(program, sanitize=True, expect_failure=True)
    before, _, after = output.partition("well until here\n")
    assert before == ""
    assert found in after
    assert f"{KERNELS.name}:{line}" in after


def test_freed_memory_is_overwritten() -> None:
    assert run("read_freed_memory", sanitize=False) == "well until here\n0xdddddddd\n"


def test_out_of_bounds_write_is_detected_at_free() -> None:
    output = run("write_out_of_bounds", sanitize=False, expect_failure=True)
    assert "wrote byte 0 behind an allocation of 256 bytes" in output


@pytest.mark.parametrize("function", ["cuStreamQuery", "cuEventRecord", "cuEventQuery"])
def test_use_after_destroy_aborts_the_process(function: str) -> None:
    output = run("use_after_destroy", arguments=[function], expect_failure=True)
    assert "simulated driver: use of the destroyed stream or event" in output


def test_default_streams_of_threads() -> None:
    assert run("default_streams_of_threads") == "1\n"
    per_thread = {"CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM": "1"}
    assert run("default_streams_of_threads", env=per_thread) == "2\n"


def test_programs_share_nothing() -> None:
    """Each is forked from the same process, as are those with other variables."""
    program = """
        import os, sys
        assert not hasattr(sys, "left_behind") and "LEFT_BEHIND" not in os.environ
        sys.left_behind = os.environ["LEFT_BEHIND"] = "yes"
        print(sys.modules["__main__"].__dict__ is globals(), os.environ.get("MINE"))
    """
    for mine in ("1", "2"):
        assert run_simulated(program, env={"MINE": mine}) == f"True {mine}\n"
    assert run_simulated(program) == "True None\n"


def test_programs_that_fail_or_hang() -> None:
    output = run_simulated("print('begun')\n1 / 0", expect_failure=True)
    assert output.startswith("begun\n")
    assert "line 2" in output
    assert output.endswith("ZeroDivisionError: division by zero\n")
    with pytest.raises(AssertionError, match="exit status 3"):
        run_simulated("raise SystemExit(3)")
    with pytest.raises(AssertionError, match="exit status -6"):
        run_simulated("import os; os.abort()")
    with pytest.raises(subprocess.TimeoutExpired, match="after 1 seconds"):
        run_simulated("import time; time.sleep(3600)", timeout=1)
    kill = "import os, signal; os.kill(os.getppid(), signal.SIGKILL)"
    with pytest.raises(AssertionError, match="the next starts another"):
        run_simulated(kill)
    assert run_simulated("print('again')") == "again\n"
