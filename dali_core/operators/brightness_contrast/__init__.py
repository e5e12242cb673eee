"""Change brightness and contrast."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import UNSET, Arg, OpSpec

SPEC = OpSpec(
    name="brightness_contrast",
    keeps_type=True,
    doc="""Change the brightness and contrast of each image.

Every element becomes::

    brightness_shift * range + brightness * (contrast_center + contrast * (x - contrast_center))

Here ``range`` is the largest number of the output's integer type, or 1.0 if it is floating point.
Integers round half away from zero and saturate. Nothing is copied if nothing changes.
""",
    input_docs=(
        "Images, volumes or sequences of type uint8, int16, int32, float16 or float32, "
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
            "brightness_shift",
            float,
            "Added, in units of the largest number of the output's integer type, or of 1.0 "
            "if it is floating point.",
            default=0.0,
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
            "contrast_center",
            float,
            "The number that contrast leaves as it is. If left out, it is 128 for uint8, "
            "16384 for int16, 2 to the power of 30 for int32, and 0.5 for floating point "
            "inputs.",
            default=UNSET,
            tensor=True,
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
