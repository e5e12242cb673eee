"""Cut random windows out of images as the SSD detector was trained."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec, Range

SPEC = OpSpec(
    name="ssd_random_crop",
    doc="""Cut a random window out of each image, with the boxes and labels that are left in it.

Windows have 0.3 to 1 times the extents of the image, and an aspect ratio from 0.5 to 2 in units of
the image's. They are drawn as by `random_bbox_crop`, with the thresholds 0, 0.1, 0.3, 0.5, 0.7 and
0.9 of the intersection over union of all boxes, and the whole image as one more choice. Boxes
whose centre is outside vanish. The outputs are images, boxes and labels.
""",
    inputs=3,
    outputs=3,
    input_docs=(
        "Images of any type with layout ``HWC``.",
        "Boxes (left, top, right, bottom), float32 of shape ``(N, 4)``, in units of the extents of "
        "the image.",
        "Labels of any type, a row for each box.",
    ),
    args=(
        Arg(
            "num_attempts",
            int,
            "How many windows are drawn for a threshold before another one is drawn.",
            default=1,
            range=Range(1),
        ),
    ),
    random=True,
)
