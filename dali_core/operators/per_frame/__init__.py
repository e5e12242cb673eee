"""Mark tensors as sequences."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec

SPEC = OpSpec(
    name="per_frame",
    doc="""Mark each tensor as a sequence, whose first dimension is that of the frames.

The layout then starts with F; the other letters stay, and data without a layout gets asterisks.
Operators on sequences take such a tensor as an argument that has a value for each frame. Nothing is
copied.
""",
    input_docs=("Tensors of any type and of at least one dimension.",),
    args=(
        Arg(
            "replace",
            bool,
            "Replace the first letter of a layout. By default, a layout that does not start with F "
            "is an error.",
            default=False,
        ),
    ),
    devices=("cpu", "gpu"),
)
