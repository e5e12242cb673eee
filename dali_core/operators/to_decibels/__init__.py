"""Convert magnitudes to decibels."""

from __future__ import annotations

from dali_core._spec import UNSET, Arg, OpSpec

SPEC = OpSpec(
    name="to_decibels",
    doc="""Convert magnitudes to decibels.

The output is ``multiplier * log10(max(input / reference, 10 ** (cutoff_db / multiplier)))``. What
is not a number is as low as the cutoff.
""",
    devices=("cpu", "gpu"),
    input_docs=("Tensors of type float32 and of any shape.",),
    args=(
        Arg(
            "multiplier",
            float,
            "Factor of the logarithm: 10 for powers, 20 for magnitudes.",
            default=10.0,
        ),
        Arg(
            "reference",
            float,
            "What 0 dB is, a number other than 0. By default, the largest number of each sample; 1 "
            "if none is above 0.",
            default=UNSET,
        ),
        Arg("cutoff_db", float, "Lowest number of the output in dB.", default=-200.0),
    ),
)
