"""Bulge images like a sphere."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import Arg, OpSpec

SPEC = OpSpec(
    name="sphere",
    keeps_type=True,
    doc="""Bulge each image as if it were stretched over a sphere.

A pixel at distance r from the centre gets the value that the input has in the same direction at
distance r * r / R, where R is half the larger side of the image, rounded down. An image of a single
pixel becomes the fill value.
""",
    input_docs=(
        "Images of type uint8, int16, uint16, int32 or float32, with layout ``HWC``, ``FHWC`` or "
        "none.",
    ),
    args=(
        Arg(
            "mask",
            int,
            "Whether to change the image: 0 passes it on as it is.",
            default=1,
            tensor=True,
        ),
        Arg(
            "fill_value",
            float,
            "Value outside the image, for all channels; it takes the type of the image.",
            default=0.0,
            finite=False,
        ),
        Arg(
            "interp_type",
            types.DALIInterpType,
            "``INTERP_NN`` for the nearest pixel, or ``INTERP_LINEAR``.",
            default=types.INTERP_NN,
            choices=(types.INTERP_NN, types.INTERP_LINEAR),
        ),
    ),
)
