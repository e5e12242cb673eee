"""Make affine transforms that shear."""

from __future__ import annotations

from dali_core._spec import UNSET, Arg, OpSpec, Range
from dali_core.operators.transforms.arguments import INPUT_DOC, NOTES, REVERSE_ORDER, center

SPEC = OpSpec(
    name="transforms.shear",
    doc=f"""Make an affine transform that shears around a point.

{NOTES}""",
    inputs=(0, 1),
    input_docs=(INPUT_DOC,),
    args=(
        Arg(
            "shear",
            list[float],
            "How far one coordinate moves for each step along another: (x by y, y by x), or in "
            "three dimensions (x by y, x by z, y by x, y by z, z by x, z by y). Excludes `angles`.",
            default=UNSET,
            tensor=True,
            alternatives=("angles",),
        ),
        Arg(
            "angles",
            list[float],
            "The same as angles in degrees, from -90 to 90: `shear` is their tangent.",
            default=UNSET,
            tensor=True,
            range=Range(-90, 90),
        ),
        center("shearing"),
        REVERSE_ORDER,
    ),
)
