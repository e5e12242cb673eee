"""Return the standard deviation of elements."""

from __future__ import annotations

from dali_core._spec import Native, OpSpec
from dali_core.operators.reductions.arguments import (
    AXES_ARGS,
    AXES_DOC,
    DDOF_ARG,
    INPUT_DOC,
    MEAN_DOC,
    bind_mean,
)

SPEC = OpSpec(
    name="reductions.std_dev",
    doc="""Return the standard deviation of the elements of each tensor around a mean.

It is the root of the sum of squares of differences, divided by the number of elements less `ddof`.
The output is ``FLOAT``, or ``FLOAT64`` for float64. Where an empty list of axes reduces nothing, it
is 0."""
    + AXES_DOC,
    inputs=2,
    input_docs=(INPUT_DOC, MEAN_DOC),
    args=(*AXES_ARGS, DDOF_ARG),
    bind=bind_mean,
    devices=("cpu", "gpu"),
    lower=Native("reductions.variance", {"finish": "root"}),
)
