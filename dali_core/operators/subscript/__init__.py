"""Take elements by indices and slices: what is in the brackets behind a `DataNode`."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec

SPEC = OpSpec(
    name="subscript",
    role="index",
    title="operator []",
    doc="""Take the elements that indices and slices describe.

The first input is the tensor, the others are indices that come with each sample.
""",
    inputs=(1, 25),
    devices=("cpu", "gpu"),
    input_device="mixed",
    args=(
        Arg(
            "entries",
            list[int],
            "Seven numbers for each entry: its kind (0 index, 1 slice, 2 new axis, 3 ellipsis), "
            "then source (0 none, 1 constant, 2 input) and value of begin, end and step.",
        ),
    ),
)
