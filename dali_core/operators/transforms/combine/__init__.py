"""Do affine transforms one after the other."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec

SPEC = OpSpec(
    name="transforms.combine",
    doc="""Combine affine transforms to one that does the first input, then the second, and so on.

Inputs are ``float32`` matrices of N rows and N + 1 columns, all of the same N from 1 to 6. If the
layout of some starts with F, they have one for each frame, and the result does, too.
""",
    inputs=(2, 99),
    args=(
        Arg(
            "reverse_order",
            bool,
            "Do the last input first.",
            default=False,
        ),
    ),
)
