"""Make affine transforms that scale."""

from __future__ import annotations

from dali_core._spec import UNSET, Arg, OpSpec, Range
from dali_core.operators.transforms.arguments import INPUT_DOC, NOTES, REVERSE_ORDER, center

SPEC = OpSpec(
    name="transforms.scale",
    doc=f"""Make an affine transform that scales around a point.

{NOTES}""",
    inputs=(0, 1),
    input_docs=(INPUT_DOC,),
    args=(
        Arg(
            "scale",
            list[float],
            "Factor of each of 1 to 6 dimensions, or one factor for all dimensions of the input "
            "or of `ndim`.",
            tensor=True,
        ),
        center("scaling"),
        Arg(
            "ndim",
            int,
            "Number of dimensions where neither `scale` nor an input tells it.",
            default=UNSET,
            range=Range(1, 6),
        ),
        REVERSE_ORDER,
    ),
)
