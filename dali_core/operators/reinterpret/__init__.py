"""Read the memory of tensors as another type."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import UNSET, Arg, OpSpec
from dali_core.operators.reshape import INPUT_DOCS, RESHAPE_ARGS

SPEC = OpSpec(
    name="reinterpret",
    doc="""Read the memory of each tensor as another type, shape or layout.

The bytes stay as they are, and nothing is copied. If only the type is given, the last dimension
becomes longer or shorter to match. Open extents of `shape` and `rel_shape` follow from
the number of bytes.
""",
    input_docs=INPUT_DOCS,
    inputs=(1, 2),
    devices=("cpu", "gpu"),
    input_device="mixed",
    args=(
        *RESHAPE_ARGS,
        Arg("dtype", types.DALIDataType, "Type of the output; by default the input's.", UNSET),
    ),
)
