"""Find silence at the beginning and the end of a signal."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec, Range

SPEC = OpSpec(
    name="nonsilent_region",
    doc="""Find the part of a signal without the silence before and after it.

The power of `window_length` samples is the mean of their squares. A window is silent if its power
is more than ``-cutoff_db`` below `reference_power`. The part begins with the first sample of the
first window that is not silent, and ends with the last sample of the last one.

Returns
-------
(DataNode, DataNode)
    Index of the first sample and number of samples, int32 scalars; both 0 if all is silent.""",
    input_docs=("One-dimensional signals of any type of integers or float32.",),
    outputs=2,
    args=(
        Arg("cutoff_db", float, "Power below which a window is silent, in dB.", default=-60.0),
        Arg(
            "window_length",
            int,
            "Samples in a window; shorter signals are one window.",
            default=2048,
            range=Range(1, 2**31 - 1),
        ),
        Arg(
            "reference_power",
            float,
            "What 0 dB is. If 0, the largest power of a window.",
            default=0.0,
        ),
        Arg(
            "reset_interval",
            int,
            "For float32: after how many samples the sum of squares is computed anew, so that "
            "errors of rounding do not add up; a multiple of `window_length`, or -1 for never.",
            default=8192,
        ),
    ),
)
