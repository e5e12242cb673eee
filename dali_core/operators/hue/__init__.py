"""Turn the hue."""

from __future__ import annotations

from dali_core import types
from dali_core._spec import UNSET, Arg, OpSpec

SPEC = OpSpec(
    name="hue",
    doc="""Turn the hue of each image.

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
        ),
    ),
)
