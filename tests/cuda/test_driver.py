"""The driver: devices, contexts, errors, and machines without it."""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys

import pytest

from tests.cuda.simulated_driver import run_program
from tests.hanging import HANG_SECONDS

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


def run(program: str) -> str:
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=HANG_SECONDS
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_does_not_load_cuda() -> None:
    names = run(
        "import sys, dali_core, dali_core.cuda, dali_core.backend, dali_core.pipeline\n"
        "dali_core.cuda.release_unused_memory()\n"
        "dali_core.backend.ReleaseUnusedMemory()\n"
        "print(*(n for n in sys.modules if n.startswith(('cuda.', 'torch', 'dali_core._cuda.'))))"
    )
    assert names.split() == []


def has_driver() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


@pytest.mark.skipif(has_driver(), reason="not available: a machine without a driver")
def test_without_a_driver() -> None:
    output = run(
        "from dali_core import cuda, errors\n"
        "print(cuda.is_available())\n"
        "for use in (cuda.device_count, cuda.memory_stats, lambda: cuda.Stream(0)):\n"
        "    try: use()\n"
        "    except errors.CudaUnavailableError as error: print(error)\n"
    )
    first, *messages = output.splitlines()
    assert first == "False"
    assert len(messages) == 3
    for message in messages:
        assert message.startswith("CUDA: the driver's library, libcuda.so.1, must be there (got:")
        assert "Install NVIDIA's driver" in message


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("cuda", 'CUDA: the package cuda-bindings must be installed .* pip install "'),
        ("dali_core._cuda.driver", "must have been built with support for GPUs"),
    ],
)
def test_errors_of_missing_requirements(missing: str, message: str) -> None:
    output = run(
        f"import sys; sys.modules[{missing!r}] = None\n"
        "from dali_core import cuda, errors\n"
        "assert not cuda.is_available()\n"
        "try: cuda.device_count()\n"
        "except errors.CudaUnavailableError as error: print(error)\n"
    )
    assert re.search(message, output), output


def test_no_devices() -> None:
    run_program("driver/no_devices", devices=0)


def test_devices() -> None:
    run_program("driver/devices", devices=2, env={"DALI_CORE_SIMULATED_COMPUTE_CAPABILITY": "8.6"})


def test_primary_context_is_retained_once_and_current_context_restored() -> None:
    run_program("driver/primary_context_is_retained_once_and_current_context_restored", devices=2)


def test_concurrent_initialization_happens_once() -> None:
    run_program("driver/concurrent_initialization_happens_once")


def test_objects_that_outlive_modules_are_released() -> None:
    """Objects that are deleted at interpreter shutdown release their resources."""
    output = run_program("driver/objects_that_outlive_modules_are_released")
    assert '"allocations": 0' in output
    assert '"streams": 0' in output
    assert '"events": 0' in output
    assert '"pools": 0' in output
    assert '"primary_context_retains": 1' in output


def test_forked_children() -> None:
    run_program("driver/forked_children")


def test_first_device_failure_is_reported_once() -> None:
    run_program("driver/first_device_failure_is_reported_once", devices=2)
