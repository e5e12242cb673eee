"""Remove dimensions of extent 1."""

from __future__ import annotations

from dali_core._spec import UNSET, Arg, OpSpec

SPEC = OpSpec(
    name="squeeze",
    keeps_type=True,
    doc="""Remove dimensions of extent 1 from the shape of each tensor.

Give either `axes` or `axis_names`. The layout loses their letters. Nothing is copied. Other
dimensions may go if the tensor has no elements before and after.
""",
    input_docs=("Tensors of any type and shape.",),
    devices=("cpu", "gpu"),
    args=(
        Arg("axes", list[int], "Dimensions to remove, from 0.", default=UNSET, tensor=True),
        Arg("axis_names", str, "Letters of the dimensions to remove.", default=UNSET),
    ),
)
