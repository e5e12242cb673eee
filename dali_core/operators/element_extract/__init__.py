"""Take single frames out of sequences."""

from __future__ import annotations

from typing import Any

from dali_core._spec import REQUIRED, Arg, OpSpec, Range


def _num_outputs(arguments: dict[str, Any]) -> int | None:
    elements = arguments["element_map"]
    return len(elements) if isinstance(elements, list | tuple) and len(elements) > 1 else None


SPEC = OpSpec(
    name="element_extract",
    doc="""Take frames out of each sequence.

There is one output for each number in `element_map`; with one number it is returned by itself, with
more of them in a list. Nothing is copied.
""",
    input_docs=(
        "Sequences of any type: tensors whose first dimension is that of the frames. A layout must "
        "start with F; outputs have the rest of it.",
    ),
    devices=("cpu", "gpu"),
    outputs=_num_outputs,
    args=(
        Arg(
            "element_map",
            list[int],
            "Numbers of frames, from 0 on; at least one.",
            REQUIRED,
            length=Range(1),
        ),
    ),
)
