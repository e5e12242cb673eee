"""Programs that compare what operators return on a device with what they return on the host."""

from __future__ import annotations

from tests.cuda.simulated_driver import run_program


def run(program: str) -> None:
    """Run a program that uses ``compare``, and stop at accesses out of bounds."""
    run_program(program, sanitize=True)
