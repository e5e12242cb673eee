"""Rotate images and volumes."""

from __future__ import annotations

from dali_core._spec import UNSET, Arg, OpSpec
from dali_core.operators.warp_affine.arguments import (
    DTYPE,
    FILL_VALUE,
    IMAGES,
    INTERP_TYPE,
    NOTES,
    OUTPUT_DTYPE,
    SIZE,
)

SPEC = OpSpec(
    name="rotate",
    keeps_type=True,
    doc=f"""Rotate images around their centre, and volumes around an axis through it.

By default the canvas grows or shrinks so that the rotated image just fits. It has an odd extent
where the image has one, so that rotations by multiples of 90 degrees only move pixels. All frames
of a sequence have one canvas.

{NOTES}
""",
    input_docs=(IMAGES,),
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "angle",
            float,
            "Angle in degrees: counter-clockwise on the screen for images, around `axis` for "
            "volumes, where axis z turns x towards y. One that comes with each sample may have a "
            "value for each frame: its layout then starts with F.",
            tensor=True,
        ),
        Arg(
            "axis",
            list[float],
            "Direction (x, y, z) to rotate volumes around, of any length above 0. It must be given "
            "for volumes and has no effect for images.",
            default=UNSET,
            tensor=True,
        ),
        Arg(
            "keep_size",
            bool,
            "Let the canvas have the size of the image. `size` comes first.",
            default=False,
        ),
        SIZE,
        FILL_VALUE,
        INTERP_TYPE,
        DTYPE,
        OUTPUT_DTYPE,
    ),
)
