"""What a batch on a device costs: memory, contexts, copies; and where its samples lie."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cuda.simulated_driver import run_program

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


# What is allocated and asked of the driver does not depend on what kernels compute.
WITHOUT_KERNELS = {"DALI_CORE_SIMULATED_KERNELS": "0"}


def run(program: str, **options: Any) -> None:
    run_program(program, **options)


def test_allocations_and_context_switches_of_a_batch() -> None:
    """Samples on the device, the result, and one block for parameters and what is between."""
    run("batch_costs/allocations_and_context_switches_of_a_batch", env=WITHOUT_KERNELS)


def test_memory_is_bounded_for_varying_sizes() -> None:
    run("batch_costs/memory_is_bounded_for_varying_sizes", env=WITHOUT_KERNELS)


def test_ragged_samples_begin_aligned() -> None:
    """To 256 bytes, in one copy; whoever needs them without gaps gets that."""
    run("batch_costs/ragged_samples_begin_aligned")


def test_samples_of_one_shape_stay_contiguous() -> None:
    run("batch_costs/samples_of_one_shape_stay_contiguous")


def test_contiguous_ragged_batch_is_one_copy() -> None:
    run("batch_costs/contiguous_ragged_batch_is_one_copy")


@pytest.mark.parametrize("interpolation", ["NN", "LINEAR", "CUBIC", "LANCZOS3", "GAUSSIAN"])
def test_filter_taps_on_the_device_equal_the_host(interpolation: str) -> None:
    run("batch_costs/filter_taps_on_the_device_equal_the_host", arguments=[interpolation])


def test_devices_that_read_pageable_memory_late() -> None:
    """Batches, copies of samples that are apart, and unpickled ones are right on these, too."""
    run_program(
        "batch_costs/devices_that_read_pageable_memory_late",
        env={"DALI_CORE_SIMULATED_HOST_PAGE_TABLES": "1"},
        delay=0.003,
    )


def test_default_pool_keeps_released_memory() -> None:
    run_program("batch_costs/default_pool_keeps_released_memory")
