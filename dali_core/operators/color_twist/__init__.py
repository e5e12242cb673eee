"""Change hue, saturation, contrast and brightness."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import UNSET, Arg, OpSpec

SPEC = OpSpec(
    name="color_twist",
    keeps_type=True,
    doc="""Change the hue, saturation, contrast and brightness of each image.

Hue and saturation change first, then contrast around a middle grey (128 for integer inputs, 0.5 for
floating point), then brightness.

The change of hue and saturation is linear: colours are taken to the YIQ colour space, where hue and
saturation are the angle and the length of (I, Q).

Integers round half away from zero and saturate. Nothing is copied if nothing changes.
""",
    input_docs=(
        "RGB images, volumes or sequences of type uint8, int16, int32, float16 or float32, "
        "with layout ``HWC``, ``FHWC`` or ``DHWC``.",
    ),
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "brightness",
            float,
            "Factor of the brightness: 0 leaves black, 1 changes nothing.",
            default=1.0,
            tensor=True,
        ),
        Arg(
            "contrast",
            float,
            "Factor of the contrast: 0 leaves plain grey, 1 changes nothing.",
            default=1.0,
            tensor=True,
        ),
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
            "image_type",
            types.DALIImageType,
            "Accepted and without effect: the input is always taken as RGB.",
            default=types.RGB,
        ),
        Arg(
            "dtype",
            types.DALIDataType,
            "Type of the output: ``UINT8``, ``INT16``, ``INT32``, ``FLOAT16`` or ``FLOAT``; "
            "the type of the input if left out.",
            default=UNSET,
            choices=(types.UINT8, types.INT16, types.INT32, types.FLOAT16, types.FLOAT),
        ),
    ),
)
