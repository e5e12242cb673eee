"""Random choices between 0 and 1."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import UNSET, Arg, OpSpec, Range

SPEC = OpSpec(
    name="random.coin_flip",
    doc="""Draw 1 with a given probability, and 0 otherwise.

The output has the shape `shape`, or that of the input, or is one number for each sample. What is
drawn for a sample depends on the seed, the epoch and the sample alone, not on batch size, threads
or shards.
""",
    inputs=(0, 1),
    input_docs=("Tensors that give the shape of the output; their elements are not read.",),
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "probability",
            float,
            "Probability of 1. Below 0 and above 1 it counts as 0 and 1.",
            default=0.5,
            tensor=True,
            range=Range(0, 1),
        ),
        Arg(
            "shape",
            list[int],
            "Shape of the output; excludes the input.",
            default=UNSET,
            tensor=True,
            range=Range(0),
        ),
        Arg("dtype", types.DALIDataType, "Type of the output.", default=types.INT32),
    ),
    random=True,
)
