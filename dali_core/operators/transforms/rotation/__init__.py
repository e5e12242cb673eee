"""Make affine transforms that rotate."""

from __future__ import annotations

from dali_core._spec import UNSET, Arg, OpSpec
from dali_core.operators.transforms.arguments import INPUT_DOC, NOTES, REVERSE_ORDER, center

SPEC = OpSpec(
    name="transforms.rotation",
    doc=f"""Make an affine transform that rotates around a point, or around an axis in space.

There are three dimensions with `axis` and two without. Positive angles turn x towards y.

{NOTES}""",
    inputs=(0, 1),
    input_docs=(INPUT_DOC,),
    args=(
        Arg("angle", float, "Angle in degrees.", tensor=True),
        Arg(
            "axis",
            list[float],
            "Direction (x, y, z) of the axis, of any length above 0. The opposite direction is the "
            "opposite angle.",
            default=UNSET,
            tensor=True,
        ),
        center("rotation"),
        REVERSE_ORDER,
    ),
)
