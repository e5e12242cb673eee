"""A device that has failed, or is out of memory."""

from __future__ import annotations

import pytest

from tests.cuda.simulated_driver import run_program

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


@pytest.mark.parametrize("delay", [0.0, 0.005])
@pytest.mark.parametrize("where", ["kernel", "cuLaunchKernel"])
def test_failed_kernel(where: str, delay: float) -> None:
    """The error is the driver's and states what to do; later calls raise it again."""
    output = run_program(
        "broken_device/failed_kernel", arguments=[where, where != "kernel"], delay=delay
    )
    assert "process" in output.lower(), output


def test_other_devices_continue() -> None:
    run_program("broken_device/other_devices_continue", devices=2)


def test_unused_memory_is_released_before_out_of_memory() -> None:
    run_program(
        "broken_device/unused_memory_is_released_before_out_of_memory", memory_limit=72000000
    )


def test_out_of_memory_within_a_batch() -> None:
    """The batch's memory is released, the error states what to do, and the next ones are right."""
    output = run_program("broken_device/out_of_memory_within_a_batch")
    assert "memory" in output
