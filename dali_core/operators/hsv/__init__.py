"""Change hue, saturation and value."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import Arg, Native, OpSpec

SPEC = OpSpec(
    name="hsv",
    doc="""Change the hue, saturation and value of each image.

The change is linear: colours are taken to the YIQ colour space, where hue and saturation are the
angle and the length of (I, Q).

Integers round half away from zero and saturate. Nothing is copied if nothing changes.
""",
    input_docs=(
        "RGB images, volumes or sequences of type uint8, int16, int32, float16 or float32, "
        "with layout ``HWC``, ``FHWC`` or ``DHWC``.",
    ),
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "hue",
            float,
            "Angle by which the hue is turned, in degrees.",
            default=0.0,
            tensor=True,
        ),
        Arg(
            "saturation",
            float,
            "Factor of the saturation: 0 leaves greys, 1 changes nothing.",
            default=1.0,
            tensor=True,
        ),
        Arg(
            "value",
            float,
            "Factor of the value, which is the brightness.",
            default=1.0,
            tensor=True,
        ),
        Arg(
            "dtype",
            types.DALIDataType,
            "Type of the output: ``UINT8``, ``INT16``, ``INT32``, ``FLOAT16`` or ``FLOAT``.",
            default=types.UINT8,
            choices=(types.UINT8, types.INT16, types.INT32, types.FLOAT16, types.FLOAT),
        ),
    ),
    lower=Native("color_twist", {"contrast": 1.0}),
)
