"""Data on a device as input of pipelines."""

from __future__ import annotations

import pytest

from tests.cuda.simulated_driver import run_program

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


def run(program: str, **options: object) -> str:
    return run_program(program, **options)  # type: ignore[arg-type]


def test_feed_input_accepts_device_data() -> None:
    """As a batch or as samples; by either protocol; tensors of this library; and host data."""
    run("sources_on_device/feed_input_accepts_device_data", delay=0.001)


def test_user_and_pipeline_streams_are_ordered() -> None:
    """The data is computed late, and overwritten in the same stream after it was fed."""
    run("sources_on_device/user_and_pipeline_streams_are_ordered", delay=0.002)


def test_feed_input_without_stream_synchronizes() -> None:
    run("sources_on_device/feed_input_without_stream_synchronizes", delay=0.02)


def test_pytorch_tensors_use_its_current_stream() -> None:
    """A fake: the test checks that the library is asked for its stream."""
    run("sources_on_device/pytorch_tensors_use_its_current_stream")


def test_external_sources_on_a_device() -> None:
    """Functions for batches and for samples, iterables, several outputs."""
    run("sources_on_device/external_sources_on_a_device", delay=0.001)


def test_operators_after_device_source() -> None:
    """The data is used in place on the same device, or copied from another one."""
    run("sources_on_device/operators_after_device_source", devices=2, delay=0.001)


def test_memory_of_fed_data_is_released() -> None:
    run("sources_on_device/memory_of_fed_data_is_released")


def test_rejects_invalid_device_data() -> None:
    run("sources_on_device/rejects_invalid_device_data")


def test_bad_samples_are_replaced() -> None:
    """A function that fails for a sample: it is replaced by the next good one, on a device, too."""
    run("sources_on_device/bad_samples_are_replaced")
