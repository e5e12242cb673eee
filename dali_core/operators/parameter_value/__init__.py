"""A tensor for all samples of a batch that the program may change between batches."""

from __future__ import annotations

from dali_core._spec import Native, OpSpec
from dali_core.operators.constant import SPEC as CONSTANT

SPEC = OpSpec(
    name="parameter_value",
    role="parameter",
    doc="""Return the same tensor for every sample of a batch.

The arguments describe its value as long as the program sets no other one.
""",
    inputs=0,
    args=tuple(arg for arg in CONSTANT.args if arg.name != "layout"),
    lower=Native("constant"),
    title="parameter",
)
