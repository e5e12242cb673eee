"""Noise of white and black pixels."""

from __future__ import annotations

from dali_core._spec import UNSET, Arg, OpSpec, Range

SPEC = OpSpec(
    name="noise.salt_and_pepper",
    doc="""Replace some pixels by one of two values, called salt and pepper.

Type, shape and layout stay. The channels of a pixel lie along the dimension C of the layout, or
along the last dimension of data without a layout; where a layout has no C, each element is a pixel.
What is drawn for a sample depends on the seed, the epoch and the sample alone, not on batch size,
threads or shards.
""",
    input_docs=("Tensors of any type but bool, of any shape and layout.",),
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "prob",
            float,
            "Probability that a pixel is replaced, from 0 to 1.",
            default=0.05,
            tensor=True,
            range=Range(0, 1),
        ),
        Arg(
            "salt_vs_pepper",
            float,
            "Probability that a replaced pixel becomes salt, from 0 to 1.",
            default=0.5,
            tensor=True,
            range=Range(0, 1),
        ),
        Arg(
            "salt_val",
            float,
            "The value of salt. By default, the largest number of an integer type, or 1.0. For "
            "integer types the fraction is dropped, and a number out of range wraps around.",
            default=UNSET,
            tensor=True,
            finite=False,
        ),
        Arg(
            "pepper_val",
            float,
            "The value of pepper. By default, the smallest number of an integer type, or -1.0. It "
            "is converted like `salt_val`.",
            default=UNSET,
            tensor=True,
            finite=False,
        ),
        Arg(
            "per_channel",
            bool,
            "Whether each channel of a pixel is replaced or not by itself.",
            default=False,
        ),
    ),
    random=True,
)
