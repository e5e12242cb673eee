"""Streams and events."""

from __future__ import annotations

import pytest

from tests.cuda.simulated_driver import run_program

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


def test_streams_and_events() -> None:
    run_program("stream/streams_and_events", devices=2)


def test_order_across_streams_and_devices() -> None:
    """Without its waits, each copy would run before its source is computed."""
    run_program("stream/order_across_streams_and_devices", devices=2)


def test_streams_are_destroyed_after_their_work() -> None:
    run_program("stream/streams_are_destroyed_after_their_work")


def test_streams_of_other_libraries() -> None:
    run_program("stream/streams_of_other_libraries", devices=2)


def test_synchronize_releases_the_gil() -> None:
    run_program("stream/synchronize_releases_the_gil")


def test_work_is_complete_after_failed_record_or_wait() -> None:
    # Whoever gets the error frees what the device would still read.
    run_program("stream/work_is_complete_after_failed_record_or_wait")
