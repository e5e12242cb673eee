"""Add dimensions of extent 1."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec, Range

SPEC = OpSpec(
    name="expand_dims",
    keeps_type=True,
    doc="""Add dimensions of extent 1 to the shape of each tensor.

Nothing is copied.
""",
    input_docs=("Tensors of any type and shape.",),
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "axes",
            list[int],
            "Where the new dimensions are in the output, from 0.",
            range=Range(0, 7),
        ),
        Arg(
            "new_axis_names",
            str,
            "Letters of the new dimensions in the layout, in the order of `axes`. Without them, "
            "the output has no layout.",
            default="",
        ),
    ),
)
