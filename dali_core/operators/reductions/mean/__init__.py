"""Average elements."""

from __future__ import annotations

from dali_core._spec import Native, OpSpec
from dali_core.operators.reductions.arguments import (
    AXES_ARGS,
    AXES_DOC,
    INPUT_DOC,
    dtype_arg,
)

SPEC = OpSpec(
    name="reductions.mean",
    doc="""Return the mean of the elements of each tensor.

An integer output of integers is the sum, wrapped around where the type cannot hold it, divided
without a rest; that of floating point numbers rounds half away from zero and saturates."""
    + AXES_DOC,
    input_docs=(INPUT_DOC,),
    args=(*AXES_ARGS, dtype_arg("``FLOAT``, or ``FLOAT64`` for float64.")),
    devices=("cpu", "gpu"),
    lower=Native("reductions.sum", {"squares": False, "finish": "mean"}),
)
