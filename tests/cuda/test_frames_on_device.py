"""Sequences whose arguments differ from frame to frame, on a device."""

from __future__ import annotations

import pytest

from tests.cuda.simulated_driver import run_program

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


def run(program: str) -> None:
    run_program(program, delay=0.0005)


def test_colours_for_each_frame() -> None:
    run("frames_on_device/colours_for_each_frame")


def test_per_frame_on_the_device() -> None:
    run("frames_on_device/per_frame_on_the_device")


def test_rejects_arguments_of_wrong_length() -> None:
    """The errors are those of the host."""
    run("frames_on_device/rejects_arguments_of_wrong_length")
