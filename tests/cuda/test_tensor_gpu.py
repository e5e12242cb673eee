"""Tensors on a device: exchange with other libraries, copies, the order of streams, lifetime.

Computing data is slow in these programs, so a missing wait results in wrong data.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from tests.cuda.simulated_driver import run_program


def run(program: str, devices: int = 1, **options: Any) -> str:
    return run_program(program, devices=devices, **options)


def test_properties_and_reinterpretation() -> None:
    run("tensor_gpu/properties_and_reinterpretation")


def test_copies_own_their_memory() -> None:
    run("tensor_gpu/copies_own_their_memory")


@pytest.mark.parametrize("stream", [None, 1, 2, "own"])
def test_consumer_streams_wait_without_host_synchronization(stream: int | str | None) -> None:
    run("tensor_gpu/consumer_streams_wait_without_host_synchronization", arguments=[stream])


def test_reading_without_stream_wait_is_too_early() -> None:
    # This is what the tests above would detect.
    run("tensor_gpu/reading_without_stream_wait_is_too_early")


def test_capsules() -> None:
    run("tensor_gpu/capsules")


def test_memory_is_reused_after_consumer_streams() -> None:
    run("tensor_gpu/memory_is_reused_after_consumer_streams")


def test_imported_memory_is_released_after_use() -> None:
    run("tensor_gpu/imported_memory_is_released_after_use")


def test_import_from_dlpack() -> None:
    run("tensor_gpu/import_from_dlpack")


def test_cuda_array_interface_consumers_that_ignore_the_stream() -> None:
    """As PyTorch does: it reads in its own stream, the default one, and then drops the tensor."""
    run("tensor_gpu/cuda_array_interface_consumers_that_ignore_the_stream")


@pytest.mark.parametrize("holds", [True, False])
def test_framework_releases_before_its_asynchronous_read(holds: bool) -> None:
    """As XLA does. Reading imported memory is too late, unless it is held until it was copied."""
    output = run(
        "tensor_gpu/framework_releases_before_its_asynchronous_read",
        arguments=[holds],
        expect_failure=not holds,
    )
    assert ("CUDA_ERROR_ILLEGAL_ADDRESS" in output) != holds


def test_import_from_cuda_array_interface() -> None:
    run("tensor_gpu/import_from_cuda_array_interface")


@pytest.mark.parametrize("kernel", [False, True])
def test_copy_to_external(kernel: bool) -> None:
    run("tensor_gpu/copy_to_external", arguments=[kernel, int(kernel)])


def test_rejects_host_access() -> None:
    run("tensor_gpu/rejects_host_access")


def test_other_devices() -> None:
    run("tensor_gpu/other_devices", devices=2)


def test_import_works_without_cuda() -> None:
    program = (
        "import sys\n"
        "before = set(sys.modules)\n"
        "from dali_core.tensors import TensorGPU, TensorListGPU\n"
        "tops = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(tops & {'cuda', 'nvidia'}), len(TensorListGPU()))\n"
    )
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    assert result.stdout.splitlines() == ["[] 0"]
