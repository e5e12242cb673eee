"""Reorder the frames of sequences."""

from __future__ import annotations

from dali_core._spec import REQUIRED, Arg, OpSpec, Range

SPEC = OpSpec(
    name="sequence_rearrange",
    doc="""Put the frames of each sequence in another order.

Frame ``i`` of the output is frame ``new_order[i]`` of the input. Frames may be left out and may
come several times.
""",
    input_docs=(
        "Sequences of any type: tensors whose first dimension is that of the frames. A layout must "
        "start with F.",
    ),
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "new_order",
            list[int],
            "Numbers of frames, from 0 on; at least one.",
            default=REQUIRED,
            tensor=True,
            length=Range(1),
        ),
    ),
)
