"""Move images like water."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import Arg, OpSpec

SPEC = OpSpec(
    name="water",
    keeps_type=True,
    doc="""Shift the rows and columns of each image along waves, as if it were seen through water.

Pixel (x, y) gets the value that the input has at ``x + ampl_x * sin(freq_x * y + phase_x)`` and
``y + ampl_y * cos(freq_y * x + phase_y)``, counted from the outer corner of the first pixel. So
without waves, nearest pixels stay and interpolated ones move by half a pixel.
""",
    input_docs=(
        "Images of type uint8, int16, uint16, int32 or float32, with layout ``HWC``, ``FHWC`` or "
        "none.",
    ),
    args=(
        Arg("ampl_x", float, "Amplitude of the shift along x, in pixels.", default=10.0),
        Arg(
            "freq_x",
            float,
            "Frequency of the shift along x, in radians per pixel along y.",
            default=0.049087,
        ),
        Arg("phase_x", float, "Phase of the shift along x, in radians.", default=0.0),
        Arg("ampl_y", float, "Amplitude of the shift along y, in pixels.", default=10.0),
        Arg(
            "freq_y",
            float,
            "Frequency of the shift along y, in radians per pixel along x.",
            default=0.049087,
        ),
        Arg("phase_y", float, "Phase of the shift along y, in radians.", default=0.0),
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
