"""Subtract from each sample a part of the one before."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import Arg, OpSpec

SPEC = OpSpec(
    name="preemphasis_filter",
    doc="""Subtract from each sample a part of the one before, which raises high frequencies.

The output is ``input[t] - preemph_coeff * input[t - 1]``. All elements of a tensor are taken as one
signal, in the order in memory. Shape and layout stay.
""",
    input_docs=("Signals of any type of numbers.",),
    args=(
        Arg(
            "preemph_coeff",
            float,
            "Part of the sample before that is subtracted.",
            default=0.97,
            tensor=True,
        ),
        Arg(
            "border",
            str,
            "What is before the first sample: ``zero``, ``clamp`` for the first sample again, "
            "``reflect`` for the second one.",
            default="clamp",
            choices=("zero", "clamp", "reflect"),
        ),
        Arg(
            "dtype",
            types.DALIDataType,
            "Type of the output. Numbers saturate, and integers are rounded half away from zero.",
            default=types.FLOAT,
        ),
    ),
)
