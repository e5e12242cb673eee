"""Find the smallest elements."""

from __future__ import annotations

from dali_core._spec import Native, OpSpec
from dali_core.operators.reductions.arguments import AXES_ARGS, AXES_DOC, INPUT_DOC

SPEC = OpSpec(
    name="reductions.min",
    doc="""Return the smallest element of each tensor.

The output has the input's type. NaN is passed over. Of no elements, the result is the largest
finite number of the type."""
    + AXES_DOC,
    input_docs=(INPUT_DOC,),
    args=AXES_ARGS,
    devices=("cpu", "gpu"),
    lower=Native("reductions.max", {"least": True}),
)
