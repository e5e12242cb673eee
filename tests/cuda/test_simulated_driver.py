"""The simulated driver itself, by programs that call it through the bindings."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cuda.simulated_driver import run_simulated

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")
PROGRAMS = Path(__file__).with_name("programs")


def run(name: str, **options: object) -> str:
    return run_simulated((PROGRAMS / f"{name}.py").read_text("utf-8"), **options)


def test_devices() -> None:
    capability = {"DALI_CORE_SIMULATED_COMPUTE_CAPABILITY": "8.6"}
    assert run("devices", devices=2, memory_limit=1 << 30, env=capability) == ""


def test_memory() -> None:
    assert run("memory", devices=2, memory_limit=1 << 30) == ""


def test_pools() -> None:
    assert run("pools", devices=2) == ""


def test_streams() -> None:
    assert run("streams", devices=2) == ""


def test_kernels() -> None:
    capability = {"DALI_CORE_SIMULATED_COMPUTE_CAPABILITY": "8.6"}
    assert run("kernels", env=capability) == ""


def test_faults() -> None:
    assert run("faults") == ""
