"""Match boxes with the anchors of a detector."""

from __future__ import annotations

from dali_core._spec import REQUIRED, Arg, OpSpec, Range

SPEC = OpSpec(
    name="box_encoder",
    doc="""Give each anchor the box and the label that it should predict.

Each box is matched with the anchor that it overlaps most, measured by intersection over union. Of
the others, an anchor is matched with the box that it overlaps most, if by more than `criteria`.
Where boxes or anchors overlap equally, the last one counts, and so does the last of several boxes
with one best anchor. Anchors without a box have the label 0.

The outputs are float32 of shape ``(number of anchors, 4)`` and int32 of shape
``(number of anchors,)``. Boxes are (centre x, centre y, width, height), and anchors without a box
stay what they are. With `offset` they are the deltas that a detector predicts::

    x = ((box_x - anchor_x) / anchor_width - means[0]) / stds[0]
    width = (log(box_width / anchor_width) - means[2]) / stds[2]

and in the same way for y and height, with zeros for anchors without a box. Liu et al., "SSD: Single
Shot MultiBox Detector", ECCV 2016, section 2.2.

Boxes must be finite. On a device that is not checked; boxes that are not finite may be matched with
any anchor there.
""",
    inputs=2,
    devices=("cpu", "gpu"),
    outputs=2,
    input_docs=(
        "Boxes (left, top, right, bottom), float32 of shape ``(N, 4)``.",
        "Labels, int32 of shape ``(N,)`` or ``(N, 1)``.",
    ),
    args=(
        Arg(
            "anchors",
            list[float],
            "Anchors (left, top, right, bottom), one after the other, in the units of the boxes.",
            default=REQUIRED,
            length=Range(4),
        ),
        Arg(
            "criteria",
            float,
            "What the intersection over union of a box and an anchor must exceed.",
            default=0.5,
            range=Range(0, 1),
        ),
        Arg("offset", bool, "Give the deltas that a detector predicts.", default=False),
        Arg(
            "scale",
            float,
            "Factor of boxes and anchors before deltas are computed.",
            default=1.0,
            range=Range(0, above=True),
        ),
        Arg(
            "means",
            list[float],
            "Means of the deltas of x, y, width and height.",
            default=[0.0, 0.0, 0.0, 0.0],
            length=4,
        ),
        Arg(
            "stds",
            list[float],
            "Standard deviations of the deltas of x, y, width and height.",
            default=[1.0, 1.0, 1.0, 1.0],
            length=4,
            range=Range(0, above=True),
        ),
    ),
)
