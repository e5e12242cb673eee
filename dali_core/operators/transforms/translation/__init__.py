"""Make affine transforms that move points."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec
from dali_core.operators.transforms.arguments import INPUT_DOC, NOTES, REVERSE_ORDER

SPEC = OpSpec(
    name="transforms.translation",
    doc=f"""Make an affine transform that moves points.

{NOTES}""",
    inputs=(0, 1),
    input_docs=(INPUT_DOC,),
    args=(
        Arg(
            "offset",
            list[float],
            "How far to move, one number for each of 1 to 6 dimensions.",
            tensor=True,
        ),
        REVERSE_ORDER,
    ),
)
