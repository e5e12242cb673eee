"""Pad tensors to common extents."""

from __future__ import annotations

from dali_core._spec import UNSET, Arg, Native, OpSpec, Range, Source

LARGEST_EXTENTS = OpSpec(
    name="pad",
    lower=Native("pad.largest_extents"),
    doc="Find the largest extents in each batch.",
    input_docs=("Tensors with the same number of dimensions.",),
    reads_batch=True,
    input_device="any",
)


SPEC = OpSpec(
    name="pad",
    keeps_type=True,
    doc="""Pad each tensor at the end of its dimensions, to the largest extents in the batch.

The layout stays. Nothing is copied where nothing is to be padded.
""",
    input_docs=(
        "Tensors of any type and shape.",
        "Least extents of the output where `shape` sets none, one for each dimension. By default, "
        "the largest in the batch.",
    ),
    inputs=(1, 2),
    devices=("cpu", "gpu"),
    input_device="mixed",
    args=(
        Arg("fill_value", float, "Value of the padding.", default=0.0, tensor=True, finite=False),
        Arg(
            "axes",
            list[int],
            "Dimensions to pad; negative numbers count from the last one. By default, all. "
            "Excludes `axis_names`.",
            default=UNSET,
            tensor=True,
        ),
        Arg(
            "axis_names",
            str,
            "Letters of the dimensions to pad.",
            default=UNSET,
            excludes=("axes",),
        ),
        Arg(
            "shape",
            list[int],
            "Least extents of the output: one for each dimension to pad, or one for all. An extent "
            "that is not positive stands for the largest in the batch. Pass 1 to pad up to `align` "
            "only.",
            default=UNSET,
            tensor=True,
        ),
        Arg(
            "align",
            list[int],
            "Numbers of which the extents become multiples: one for each dimension to pad, or one "
            "for all.",
            default=UNSET,
            tensor=True,
            range=Range(1),
        ),
    ),
    batch_input=lambda arguments: Source(LARGEST_EXTENTS, {}),
)
