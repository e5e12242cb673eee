"""Mirror bounding boxes."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec

BOXES_DOC = "Boxes, float32 of shape ``(N, 4)``, in units of the extents of the image."

LTRB = Arg(
    "ltrb",
    bool,
    "Whether boxes are (left, top, right, bottom). By default, they are (left, top, width, "
    "height).",
    default=False,
)
"""How boxes are written."""

SPEC = OpSpec(
    name="bb_flip",
    doc="""Mirror bounding boxes as `flip` mirrors the image that they belong to.

Boxes are in units of the extents of the image: 1 is its right or lower edge.
""",
    input_docs=(BOXES_DOC,),
    devices=("cpu", "gpu"),
    args=(
        Arg("horizontal", int, "Mirror left to right if not 0.", default=1, tensor=True),
        Arg("vertical", int, "Mirror top to bottom if not 0.", default=0, tensor=True),
        LTRB,
    ),
)
