"""Make affine transforms between ranges of coordinates."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec
from dali_core.operators.transforms.arguments import INPUT_DOC, NOTES, REVERSE_ORDER

_NUMBERS = "One number for each dimension, or one for all."

SPEC = OpSpec(
    name="transforms.crop",
    doc=f"""Make an affine transform that takes one range of coordinates to another.

It takes the point `from_start` to `to_start` and `from_end` to `to_end`, and so adjusts coordinates
to an image that was cropped or resized.

{NOTES}""",
    inputs=(0, 1),
    input_docs=(INPUT_DOC,),
    args=(
        Arg(
            "from_start",
            list[float],
            f"Start of the range before. {_NUMBERS}",
            default=[0.0],
            tensor=True,
        ),
        Arg(
            "from_end",
            list[float],
            "End of the range before, different from its start: the scale is infinite otherwise. "
            f"{_NUMBERS}",
            default=[1.0],
            tensor=True,
        ),
        Arg(
            "to_start",
            list[float],
            f"Start of the range after. {_NUMBERS}",
            default=[0.0],
            tensor=True,
        ),
        Arg(
            "to_end",
            list[float],
            f"End of the range after. {_NUMBERS}",
            default=[1.0],
            tensor=True,
        ),
        Arg(
            "absolute",
            bool,
            "Exchange the start and the end of a range that runs backwards.",
            default=False,
        ),
        REVERSE_ORDER,
    ),
)
