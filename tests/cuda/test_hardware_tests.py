"""The tests for real hardware pass with the simulated driver."""

from __future__ import annotations

import pytest

from tests.cuda.simulated_driver import run_simulated

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


def test_gpu_tests_pass_with_simulated_driver() -> None:
    # As in the first run on a GPU: a PyTorch that is there warns about the driver's version.
    options = ["-q", "-p", "no:cacheprovider", "-o", "filterwarnings=default", "-m", "gpu"]
    some = (
        "retained or every_device or freed_memory or closed_pipelines or too_large or compiles or "
        "every_kernel or casts"
    )
    output = run_simulated(
        f"""
import sys
import pytest

sys.exit(pytest.main([*{options!r}, "-k", {some!r}, "tests/gpu"]))
""",
        env={"DALI_CORE_REQUIRE_GPU": "1"},
    )
    assert "14 passed" in output, output


def test_gpu_tests_fail_without_gpu() -> None:
    output = run_simulated(
        """
import sys
import pytest

sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-m", "gpu", "tests/gpu/test_memory.py"]))
""",
        devices=0,
        env={"DALI_CORE_REQUIRE_GPU": "1"},
        expect_failure=True,
    )
    assert "3 errors" in output, output
    assert "not available: a GPU" in output
