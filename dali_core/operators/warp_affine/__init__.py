"""Warp images and volumes by an affine transform."""

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
    name="warp_affine",
    keeps_type=True,
    doc=f"""Warp images and volumes by an affine transform of coordinates.

The matrix takes coordinates in the output to coordinates in the input: with the numbers
``(a, b, c, d, e, f)``, a pixel whose centre is at (x, y) gets the value that the input has at
``(a x + b y + c, d x + e y + f)``. Coordinates are in the order x, y, z and in pixels. (0, 0) is
the outer corner of the first pixel, whose centre is at (0.5, 0.5).

{NOTES}
""",
    inputs=(1, 2),
    input_docs=(
        IMAGES,
        "The matrix, in the place of `matrix`; on the host also where images are on a GPU.",
    ),
    devices=("cpu", "gpu"),
    input_device="mixed",
    args=(
        Arg(
            "matrix",
            list[float],
            "Matrix of 2 rows and 3 columns, or of 3 rows and 4 columns for volumes, row by row. "
            "One that comes with each sample may have a matrix for each frame: its layout then "
            "starts with F.",
            default=UNSET,
            tensor=True,
        ),
        Arg(
            "inverse_map",
            bool,
            "True if the matrix takes the output to the input; False if it takes the input to the "
            "output and is to be inverted.",
            default=True,
        ),
        SIZE,
        FILL_VALUE,
        INTERP_TYPE,
        DTYPE,
        OUTPUT_DTYPE,
    ),
)
