"""Compute roots of mean squares of elements."""

from __future__ import annotations

from dali_core._spec import Native, OpSpec
from dali_core.operators.reductions.arguments import (
    AXES_ARGS,
    AXES_DOC,
    INPUT_DOC,
    dtype_arg,
)

SPEC = OpSpec(
    name="reductions.rms",
    doc="""Return the root of the mean of the squares of the elements of each tensor.

An integer output of integers is the sum of squares, wrapped around where the type cannot hold it,
divided without a rest, and then the whole part of the root; that of floating point numbers rounds
half away from zero and saturates."""
    + AXES_DOC,
    input_docs=(INPUT_DOC,),
    args=(*AXES_ARGS, dtype_arg("``FLOAT``, or ``FLOAT64`` for float64.")),
    devices=("cpu", "gpu"),
    lower=Native("reductions.sum", {"squares": True, "finish": "root"}),
)
