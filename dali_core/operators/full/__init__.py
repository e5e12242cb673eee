"""Tensors of a given shape, filled with a value."""

from __future__ import annotations

from typing import Any

from dali_core._spec import OpSpec
from dali_core.operators.constant import constant_source
from dali_core.operators.zeros import LAYOUT_ARG, SHAPE_ARG


def _bind(
    inputs: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The fill value may be a number or a list."""
    return tuple(constant_source(value) for value in inputs), keywords


SPEC = OpSpec(
    name="full",
    doc="""Make tensors of a given shape, filled with a value.

A value that is no scalar is repeated along the dimensions in which it has one element, as NumPy
broadcasts. Without `shape`, the output is a scalar: the first element of the value. It has the type
of the value.
""",
    input_docs=("Value to fill with: a node, a number, or a list of numbers.",),
    devices=("cpu", "gpu"),
    input_device="mixed",
    args=(SHAPE_ARG, LAYOUT_ARG),
    bind=_bind,
)
