"""Device memory and pinned host memory."""

from __future__ import annotations

import pytest

from tests.cuda.simulated_driver import run_program

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")

MIB = 1 << 20


def test_memory_statistics() -> None:
    run_program("memory/memory_statistics", devices=2)


def test_memory_is_not_reused_before_recorded_streams() -> None:
    run_program("memory/memory_is_not_reused_before_recorded_streams")


def test_memory_is_reused_without_record_stream() -> None:
    """The previous test would detect a missing wait."""
    run_program("memory/memory_is_reused_without_record_stream")


def test_streams_outlive_their_buffers() -> None:
    run_program("memory/streams_outlive_their_buffers")


def test_out_of_device_memory() -> None:
    run_program("memory/out_of_device_memory", memory_limit=64 * MIB)


@pytest.mark.parametrize("has_default_pool", [True, False])
def test_devices_without_pools(has_default_pool: bool) -> None:
    run_program("memory/devices_without_pools", arguments=[has_default_pool], memory_limit=64 * MIB)


def test_pinned_memory() -> None:
    run_program("memory/pinned_memory", devices=3)


def test_threads_share_memory() -> None:
    run_program("memory/threads_share_memory", devices=2)
