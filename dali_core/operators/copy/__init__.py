"""Copy tensors."""

from __future__ import annotations

from dali_core._spec import OpSpec

SPEC = OpSpec(
    name="copy",
    keeps_type=True,
    doc="""Copy each tensor into memory of its own.

Use it where the program writes into an output that shares its memory with another one; the
pipeline itself never does.
""",
    input_docs=("Tensors of any type, shape and layout.",),
    devices=("cpu", "gpu"),
)
