"""Tensors of the shape of others, filled with a value."""

from __future__ import annotations

from typing import Any

from dali_core._spec import OpSpec
from dali_core.operators.constant import constant_source


def _bind(
    inputs: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The fill value may be a number or a list."""
    return (*inputs[:1], *(constant_source(value) for value in inputs[1:])), keywords


SPEC = OpSpec(
    name="full_like",
    doc="""Make tensors of the shape, type and layout of the first input, filled with the second.

A value that is no scalar is repeated along the dimensions in which it has one element, as NumPy
broadcasts. It is converted to the output's type: integers saturate, and numbers with a fraction are
rounded half away from zero on their way to an integer.
""",
    inputs=2,
    input_docs=(
        "Tensors that give shape, type and layout; their elements are not read.",
        "Value to fill with: a node, a number, or a list of numbers.",
    ),
    bind=_bind,
    devices=("cpu", "gpu"),
    input_device="mixed",
)
