"""Convert tensors to the type of others."""

from __future__ import annotations

from dali_core._spec import OpSpec

SPEC = OpSpec(
    name="cast_like",
    doc="""Convert each tensor to the type of another one.

Numbers saturate to the range of the new type, and integers are rounded half away from zero, as by
`cast`. The layout stays.
""",
    inputs=2,
    input_docs=(
        "Tensors of any type, shape and layout.",
        "Tensors of the type to convert to; their elements are not read.",
    ),
    devices=("cpu", "gpu"),
)
