"""Tensors of the shape of others, filled with zeros."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import UNSET, Arg, Native, OpSpec

SPEC = OpSpec(
    name="zeros_like",
    doc="Make tensors of the shape and layout of the input, filled with zeros.",
    input_docs=("Tensors that give shape, type and layout; their elements are not read.",),
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "dtype",
            types.DALIDataType,
            "Type of the output; by default that of the input.",
            default=UNSET,
        ),
    ),
    lower=Native("zeros", {"value": 0}),
)
