"""Join tensors along a new dimension."""

from __future__ import annotations

from dali_core._spec import UNSET, Arg, OpSpec

SPEC = OpSpec(
    name="stack",
    doc="""Join the tensors of several inputs along a new dimension.

All must have the same shape.
""",
    inputs=(1, 999),
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "axis",
            int,
            "Where the new dimension is in the output. Negative numbers count from the last "
            "dimension of the output, of which -1 is the last.",
            default=0,
        ),
        Arg(
            "axis_name",
            str,
            "Letter of the new dimension in the layout. Without it, the output has no layout.",
            default=UNSET,
        ),
    ),
)
