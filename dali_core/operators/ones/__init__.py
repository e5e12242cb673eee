"""Tensors of a given shape, filled with ones."""

from __future__ import annotations

from dali_core.operators.zeros import SPEC as ZEROS

SPEC = ZEROS.variant(
    "ones",
    doc="Make tensors of a given shape, filled with ones.",
    value=1,
)
