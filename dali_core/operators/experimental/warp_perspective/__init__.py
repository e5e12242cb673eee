"""Warp images by a perspective transform."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import UNSET, Arg, OpSpec

SPEC = OpSpec(
    name="experimental.warp_perspective",
    doc="""Warp images by a perspective transform.

The matrix takes coordinates in the output to coordinates in the input: with the rows ``(a, b, c)``,
``(d, e, f)`` and ``(g, h, i)``, the pixel at (x, y) gets the value that the input has at
``(a x + b y + c, d x + e y + f)``, divided by ``g x + h y + i``. Coordinates are in pixels.

Layouts are ``HW``, ``HWC`` and ``CHW``, each also after F. Values are computed in ``float32``, for
linear interpolation of int16 from positions in steps of 1/32 pixel. Integers round half away from
zero, and saturate.
""",
    inputs=(1, 2),
    input_docs=(
        "Images or sequences of them, of type uint8, uint16, int16 or float32.",
        "The matrix, in the place of `matrix`.",
    ),
    args=(
        Arg(
            "matrix",
            list[float],
            "Matrix of 3 rows and 3 columns, row by row. One that comes with each sample may have "
            "a matrix for each frame: its layout then starts with F.",
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
        Arg(
            "size",
            list[float],
            "Size of the output in pixels, ``(height, width)``, which is rounded; by default that "
            "of the input.",
            default=UNSET,
            tensor=True,
            length=2,
        ),
        Arg(
            "pixel_origin",
            str,
            'Where (0, 0) is: ``"corner"``, the outer corner of the first pixel, whose centre is '
            'at (0.5, 0.5); or ``"center"``, its centre.',
            default="corner",
            choices=("corner", "center"),
        ),
        Arg(
            "border_mode",
            str,
            'What is beside the image: ``"constant"``, `fill_value`; ``"replicate"``, the nearest '
            'pixel; ``"reflect"`` and ``"reflect_101"``, a mirror beside or through the last '
            'pixel; ``"wrap"``, the image again.',
            default="constant",
            choices=("constant", "replicate", "reflect", "reflect_101", "wrap"),
        ),
        Arg(
            "fill_value",
            list[float],
            "Value beside the image: one for all channels, or one for each. 0 by default.",
            default=UNSET,
        ),
        Arg(
            "interp_type",
            types.DALIInterpType,
            "``INTERP_NN`` for the nearest pixel, ``INTERP_LINEAR`` or ``INTERP_CUBIC``.",
            default=types.INTERP_LINEAR,
            choices=(types.INTERP_NN, types.INTERP_LINEAR, types.INTERP_CUBIC),
        ),
    ),
)
