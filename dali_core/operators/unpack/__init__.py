"""Take a sequence out of packed rows."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec, Range

SPEC = OpSpec(
    name="unpack",
    keeps_type=True,
    doc="""Take one of the sequences out of each row that `pack` has made.

The output are the elements whose segment id is `segment`; none if the row has fewer sequences.
""",
    input_docs=(
        "Packed rows of any type, with their elements along the first dimension.",
        "Segment ids: integers, one for each element of the row.",
    ),
    inputs=2,
    args=(
        Arg(
            "segment",
            int,
            "Number of the sequence in its row, from 1. 0 gives the padding.",
            default=1,
            tensor=True,
            range=Range(0, 2**31 - 1),
        ),
    ),
)
