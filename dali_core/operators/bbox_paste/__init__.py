"""Move bounding boxes to where their image is pasted."""

from __future__ import annotations

from dali_core._spec import REQUIRED, Arg, OpSpec, Range
from dali_core.operators.bb_flip import BOXES_DOC, LTRB

SPEC = OpSpec(
    name="bbox_paste",
    doc="""Move bounding boxes to where they are after `paste` has put their image on a canvas.

Boxes are in units of the extents of the image, and those of the result in units of the extents of
the canvas.
""",
    input_docs=(BOXES_DOC,),
    args=(
        Arg(
            "ratio",
            float,
            "Extents of the canvas in units of those of the image, at least 1.",
            default=REQUIRED,
            tensor=True,
            range=Range(1),
        ),
        Arg(
            "paste_x",
            float,
            "Horizontal position of the image, from 0 (flush left) to 1 (flush right).",
            default=0.5,
            tensor=True,
            range=Range(0, 1),
        ),
        Arg(
            "paste_y",
            float,
            "Vertical position of the image, from 0 (top) to 1 (bottom).",
            default=0.5,
            tensor=True,
            range=Range(0, 1),
        ),
        LTRB,
    ),
)
