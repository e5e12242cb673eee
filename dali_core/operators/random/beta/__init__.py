"""Random numbers of beta distribution."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import UNSET, Arg, OpSpec, Range

SPEC = OpSpec(
    name="random.beta",
    doc="""Draw numbers from 0 to 1 of beta distribution.

The output has the shape `shape`, or that of the input, or is one number for each sample. What is
drawn for a sample depends on the seed, the epoch and the sample alone, not on batch size, threads
or shards.
""",
    inputs=(0, 1),
    input_docs=("Tensors that give the shape of the output; their elements are not read.",),
    args=(
        Arg(
            "alpha",
            float,
            "First shape parameter, above 0.",
            default=1.0,
            tensor=True,
            range=Range(0, above=True),
        ),
        Arg(
            "beta",
            float,
            "Second shape parameter, above 0.",
            default=1.0,
            tensor=True,
            range=Range(0, above=True),
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
            "Type of the output: ``FLOAT`` or ``FLOAT64``.",
            default=types.FLOAT,
            choices=(types.FLOAT, types.FLOAT64),
        ),
    ),
    random=True,
)
