"""Noise of normal distribution."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec, Range

SPEC = OpSpec(
    name="noise.gaussian",
    doc="""Add a number of normal distribution to each element.

Type, shape and layout stay. Integers round half away from zero and saturate. What is drawn for a
sample depends on the seed, the epoch and the sample alone, not on batch size, threads or shards.
""",
    input_docs=("Tensors of any type but bool, of any shape and layout.",),
    devices=("cpu", "gpu"),
    args=(
        Arg("mean", float, "Mean of the noise.", default=0.0, tensor=True),
        Arg(
            "stddev",
            float,
            "Standard deviation of the noise.",
            default=1.0,
            tensor=True,
            range=Range(0),
        ),
    ),
    random=True,
)
