"""Rotate bounding boxes."""

from __future__ import annotations

from dali_core._spec import REQUIRED, UNSET, Arg, OpSpec, Range

SPEC = OpSpec(
    name="bbox_rotate",
    doc="""Rotate bounding boxes as `rotate` rotates the image that they belong to.

The result is boxes around the rotated ones, cut off at the borders of the canvas. Boxes of which
too little is left vanish, and so do their labels. Call it with the same angle, and with the shape
of the image before it is rotated.
""",
    inputs=(1, 2),
    input_docs=(
        "Boxes, float32 of shape ``(N, 4)``.",
        "Labels of any type, a row for each box.",
    ),
    optional_input_has_output=True,
    args=(
        Arg(
            "angle",
            float,
            "Angle in degrees, counter-clockwise on the screen.",
            default=REQUIRED,
            tensor=True,
        ),
        Arg(
            "input_shape",
            list[int],
            "Shape of the image before it is rotated.",
            default=REQUIRED,
            tensor=True,
            range=Range(1, 2**31 - 1),
        ),
        Arg(
            "shape_layout",
            str,
            "Layout of that shape, with the letters H and W.",
            default="HW",
        ),
        Arg(
            "keep_size",
            bool,
            "Whether the canvas has the size of the image. By default, the rotated image fits.",
            default=False,
        ),
        Arg(
            "size",
            list[float],
            "Height and width of the canvas in pixels, without their fractions. Excludes "
            "`keep_size`.",
            default=UNSET,
            tensor=True,
            range=Range(1, 2**31 - 1),
        ),
        Arg(
            "bbox_layout",
            str,
            "``'xyXY'`` for boxes (left, top, right, bottom), ``'xyWH'`` for (left, top, width, "
            "height).",
            default="xyXY",
            choices=("xyXY", "xyWH"),
        ),
        Arg(
            "bbox_normalized",
            bool,
            "Whether boxes are in units of the extents of the image, and those of the result in "
            "units of the canvas; otherwise in pixels.",
            default=True,
        ),
        Arg(
            "mode",
            str,
            "``'expand'`` for boxes that hold all of the rotated ones; ``'fixed'`` for boxes of "
            "the size before, with width and height exchanged where the rotation is nearer to a "
            "quarter turn; ``'halfway'`` for the mean of both sizes.",
            default="expand",
            choices=("expand", "fixed", "halfway"),
        ),
        Arg(
            "remove_threshold",
            float,
            "Least share of a box on the canvas for the box to stay.",
            default=0.1,
            range=Range(0, 1),
        ),
    ),
)
