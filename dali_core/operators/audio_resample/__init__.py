"""Resample signals."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import UNSET, Arg, OpSpec, Range

SPEC = OpSpec(
    name="audio_resample",
    doc="""Resample signals.

The ratio is `scale`, or `out_rate` to `in_rate`, or that of `out_length` to the input's length.
Samples are interpolated by a sinc with a window of Hann; frequencies that a lower rate cannot have
are not removed before.

Layout and number of channels stay. Outputs have ``ceil(length * scale)`` samples.
""",
    input_docs=(
        "Signals of shape ``(length,)`` or ``(length, channels)``, float32 or integers of at most "
        "32 bits.",
    ),
    args=(
        Arg(
            "in_rate",
            float,
            "Sampling rate of the input, in any unit; together with `out_rate`.",
            default=UNSET,
            tensor=True,
            range=Range(0, above=True),
            excludes=("scale", "out_length"),
        ),
        Arg(
            "out_rate",
            float,
            "Sampling rate of the output, in the same unit.",
            default=UNSET,
            tensor=True,
            range=Range(0),
            excludes=("scale", "out_length"),
        ),
        Arg(
            "scale",
            float,
            "Number of output samples for an input sample.",
            default=UNSET,
            tensor=True,
            range=Range(0),
            excludes=("out_length",),
        ),
        Arg(
            "out_length",
            int,
            "Length of the output.",
            default=UNSET,
            tensor=True,
            range=Range(0),
        ),
        Arg(
            "dtype",
            types.DALIDataType,
            "Type of the output, by default that of the input. Numbers from -1 to 1 fill the range "
            "of a type of integers, and half of the range is 0 where it has no sign.",
            default=UNSET,
        ),
        Arg(
            "quality",
            float,
            "The sinc has 3 lobes at 0, 16 at 50, and 64 at 100.",
            default=50.0,
            range=Range(0, 100),
        ),
    ),
)
