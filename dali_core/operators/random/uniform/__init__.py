"""Random numbers of uniform distribution."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import UNSET, Arg, OpSpec, Range

SPEC = OpSpec(
    name="random.uniform",
    doc="""Draw numbers from a range, or from a set of values, with equal probability.

The output has the shape `shape`, or that of the input, or is one number for each sample. What is
drawn for a sample depends on the seed, the epoch and the sample alone, not on batch size, threads
or shards.
""",
    inputs=(0, 1),
    input_docs=("Tensors that give the shape of the output; their elements are not read.",),
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "range",
            list[float],
            "Draw from ``[start, end)``. Has no effect if `values` is given.",
            default=[-1.0, 1.0],
            tensor=True,
            length=2,
        ),
        Arg(
            "values",
            list[float],
            "Choose from these numbers.",
            default=UNSET,
            tensor=True,
            finite=False,
            length=Range(1),
        ),
        Arg(
            "shape",
            list[int],
            "Shape of the output; excludes the input.",
            default=UNSET,
            tensor=True,
            range=Range(0),
        ),
        Arg(
            "dtype",
            types.DALIDataType,
            "Type of the output. For integer types, numbers from the range are rounded half away "
            "from zero, so the end may occur, and saturate.",
            default=types.FLOAT,
        ),
    ),
    random=True,
)
