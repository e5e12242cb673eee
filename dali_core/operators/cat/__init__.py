"""Join tensors along a dimension that they have."""

from __future__ import annotations

from dali_core._spec import UNSET, Arg, OpSpec

SPEC = OpSpec(
    name="cat",
    doc="""Join the tensors of several inputs along a dimension that they have.

The others must have the same extents; tensors without elements take no part in this. The layout is
that of the first input.
""",
    inputs=(1, 999),
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "axis",
            int,
            "Dimension along which to join; negative numbers count from the last one. By default, "
            "the first. Excludes `axis_name`.",
            default=UNSET,
        ),
        Arg(
            "axis_name",
            str,
            "Letter of the dimension in the first input's layout.",
            UNSET,
            excludes=("axis",),
        ),
    ),
)
