"""Tensors of a given shape, filled with zeros."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import UNSET, Arg, Native, OpSpec, Range

SHAPE_ARG = Arg(
    "shape",
    list[int],
    "Shape of the output. By default it is one number.",
    default=UNSET,
    tensor=True,
    range=Range(0),
)
LAYOUT_ARG = Arg("layout", str, "Layout of the output: one letter a dimension.", default=UNSET)
DTYPE_ARG = Arg("dtype", types.DALIDataType, "Type of the output.", default=types.INT32)

SPEC = OpSpec(
    name="zeros",
    doc="Make tensors of a given shape, filled with zeros.",
    inputs=0,
    devices=("cpu", "gpu"),
    args=(SHAPE_ARG, DTYPE_ARG, LAYOUT_ARG),
    lower=Native("zeros", {"value": 0}),
)
