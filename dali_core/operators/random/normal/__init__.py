"""Random numbers of normal distribution."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import UNSET, Arg, OpSpec, Range

SPEC = OpSpec(
    name="random.normal",
    doc="""Draw numbers from a normal distribution.

The output has the shape `shape`, or that of the input, or is one number for each sample. What is
drawn for a sample depends on the seed, the epoch and the sample alone, not on batch size, threads
or shards.
""",
    inputs=(0, 1),
    input_docs=("Tensors that give the shape of the output; their elements are not read.",),
    devices=("cpu", "gpu"),
    args=(
        Arg("mean", float, "Mean of the distribution.", default=0.0, tensor=True),
        Arg("stddev", float, "Standard deviation.", default=1.0, tensor=True, range=Range(0)),
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
            "Type of the output. For integer types, numbers are rounded half away from zero, and "
            "saturate.",
            default=types.FLOAT,
        ),
    ),
    random=True,
)
