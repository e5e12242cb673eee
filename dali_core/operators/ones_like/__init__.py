"""Tensors of the shape of others, filled with ones."""

from __future__ import annotations

from dali_core.operators.zeros_like import SPEC as ZEROS_LIKE

SPEC = ZEROS_LIKE.variant(
    "ones_like",
    doc="Make tensors of the shape and layout of the input, filled with ones.",
    value=1,
)
