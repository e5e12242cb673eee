"""Memory of devices from allocators of users and of other libraries."""

from __future__ import annotations

from tests.cuda.simulated_driver import run_program


def test_user_defined_allocators() -> None:
    run_program("allocators/user_defined_allocators", devices=2)


def test_allocators_propagate_keyboard_interrupt() -> None:
    output = run_program("allocators/allocators_propagate_keyboard_interrupt")
    assert output == "interrupted\n"


def test_allocators_of_pytorch_and_rmm() -> None:
    """Calls of PyTorch and RMM, with fakes of the same signatures."""
    run_program("allocators/allocators_of_pytorch_and_rmm", devices=2)
