"""The same tensor for every sample."""

from __future__ import annotations

from dali_core import types
from dali_core._spec import UNSET, Arg, OpSpec, Range

SPEC = OpSpec(
    name="constant",
    role="literal",
    doc="""Return the same tensor for every sample.

The numbers are in `fdata` or `idata`, one of which must be given. A single number fills the whole
shape. Integers saturate, and numbers with a fraction are rounded half away from zero if the type is
an integer one.
""",
    inputs=0,
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "fdata",
            list[float],
            "Numbers, in ``float32``.",
            default=UNSET,
            finite=False,
            alternatives=("idata",),
        ),
        Arg("idata", list[int], "Integers.", default=UNSET),
        Arg(
            "shape",
            list[int],
            "Shape of the output. By default there is one dimension.",
            default=UNSET,
            range=Range(0),
        ),
        Arg(
            "dtype",
            types.DALIDataType,
            "Type of the output. By default ``FLOAT`` for `fdata` and ``INT32`` for `idata`.",
            default=UNSET,
        ),
        Arg("layout", str, "Layout of the output: one letter a dimension, or empty.", default=""),
    ),
)
