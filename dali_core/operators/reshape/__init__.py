"""Change the shape of tensors."""

from __future__ import annotations

from dali_core._spec import UNSET, Arg, OpSpec

RESHAPE_ARGS = (
    Arg(
        "shape",
        list[int],
        "Shape of the output. One extent may be negative: it then follows from the size of the "
        "input. A second input serves as well. Excludes `rel_shape`.",
        default=UNSET,
        tensor=True,
    ),
    Arg(
        "rel_shape",
        list[float],
        "Extents of the output as multiples of the input's, rounded. One may be negative: it then "
        "follows from the size of the input. Dimensions that are left out at the end have "
        "to be taken in by the others; a last -1 may add one.",
        default=UNSET,
        tensor=True,
    ),
    Arg(
        "src_dims",
        list[int],
        "Dimensions of the input whose extents the output has; -1 adds a dimension of extent 1. "
        "With `rel_shape`, the dimensions that it refers to.",
        default=UNSET,
        tensor=True,
    ),
    Arg(
        "layout",
        str,
        "Layout of the output. By default the input's, if the number of dimensions stays the same, "
        "and otherwise none.",
        default=UNSET,
    ),
)
"""Arguments of the operators that give memory another meaning."""

INPUT_DOCS = ("Tensors of any type and shape.", "Shape for each tensor, in place of `shape`.")

SPEC = OpSpec(
    name="reshape",
    doc="""Change the shape or the layout of each tensor, or both.

The elements stay in order, and nothing is copied.
""",
    input_docs=INPUT_DOCS,
    inputs=(1, 2),
    args=RESHAPE_ARGS,
    devices=("cpu", "gpu"),
    input_device="mixed",
)
