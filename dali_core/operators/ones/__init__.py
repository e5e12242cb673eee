"""Tensors of a given shape, filled with ones."""

from __future__ import annotations

from dali_core._spec import OpSpec
from dali_core.operators.zeros import DTYPE_ARG, LAYOUT_ARG, SHAPE_ARG

SPEC = OpSpec(
    name="ones",
    doc="Make tensors of a given shape, filled with ones.",
    inputs=0,
    devices=("cpu", "gpu"),
    args=(SHAPE_ARG, DTYPE_ARG, LAYOUT_ARG),
)
