"""Reorder the dimensions of tensors."""

from __future__ import annotations

from dali_core._spec import UNSET, Arg, OpSpec

SPEC = OpSpec(
    name="transpose",
    keeps_type=True,
    doc="""Reorder the dimensions of each tensor.

Dimension ``i`` of the output is dimension ``perm[i]`` of the input: ``perm=[2, 0, 1]`` turns
``HWC`` into ``CHW``. Nothing is copied if the elements stay in order, as where only dimensions of
extent 1 move.
""",
    input_docs=("Tensors of any type and shape.",),
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "perm",
            list[int],
            "Dimensions of the input in the order of the output. By default, they are reversed.",
            default=UNSET,
        ),
        Arg(
            "transpose_layout",
            bool,
            "Whether the letters of the layout move with their dimensions; otherwise the output "
            "has the input's layout. Without effect if `output_layout` is given.",
            default=True,
        ),
        Arg("output_layout", str, "Layout of the output.", default=UNSET),
    ),
)
