"""Random pixels of a mask."""

from __future__ import annotations

from dali_core._spec import UNSET, Arg, OpSpec

SPEC = OpSpec(
    name="segmentation.random_mask_pixel",
    doc="""Draw a pixel of a mask at random: any one, or one of the foreground.

Foreground is what is above `threshold`, or equals `value`. A mask without foreground gives any
pixel. The output is the position of the pixel, int64, one number for each dimension. What is drawn
for a sample depends on the seed, the epoch and the sample alone, not on batch size, threads or
shards.
""",
    input_docs=("Masks of any type and shape, with at least one element.",),
    args=(
        Arg(
            "foreground",
            int,
            "Draw pixels of the foreground only if not 0.",
            default=0,
            tensor=True,
        ),
        Arg(
            "threshold",
            float,
            "What the foreground is above. Excludes `value`.",
            default=0.0,
            tensor=True,
        ),
        Arg(
            "value",
            int,
            "What the foreground equals.",
            default=UNSET,
            tensor=True,
            excludes=("threshold",),
        ),
    ),
    random=True,
)
