"""Pipelines and processes that end with work in flight."""

from __future__ import annotations

import pytest

from tests.cuda.simulated_driver import run_program

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


def run(program: str, **options: object) -> str:
    return run_program(program, **options)  # type: ignore[arg-type]


def test_pipeline_close_with_work_in_flight() -> None:
    run("endings/pipeline_close_with_work_in_flight", delay=0.003)


def test_repeated_pipelines_do_not_leak() -> None:
    run("endings/repeated_pipelines_do_not_leak")


def test_fork_after_device_use() -> None:
    """Every use raises an error that says so, and it exits quietly; the parent is not affected."""
    run("endings/fork_after_device_use")


@pytest.mark.parametrize("delay", [0.0, 0.01])
def test_interpreter_exit_with_live_objects(delay: float) -> None:
    run("endings/interpreter_exit_with_live_objects", delay=delay)
