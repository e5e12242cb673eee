"""Add up elements."""

from __future__ import annotations

from dali_core._spec import Native, OpSpec
from dali_core.operators.reductions.arguments import (
    AXES_ARGS,
    AXES_DOC,
    INPUT_DOC,
    dtype_arg,
)

SPEC = OpSpec(
    name="reductions.sum",
    doc="""Add up the elements of each tensor.

An integer output of integers wraps around where the sum does not fit; that of floating point
numbers rounds half away from zero and saturates."""
    + AXES_DOC,
    input_docs=(INPUT_DOC,),
    args=(
        *AXES_ARGS,
        dtype_arg(
            "``INT64`` for signed integers, ``UINT64`` for unsigned ones and bool, ``FLOAT`` for "
            "float16, and the input's type otherwise."
        ),
    ),
    devices=("cpu", "gpu"),
    lower=Native("reductions.sum", {"squares": False, "finish": "sum"}),
)
