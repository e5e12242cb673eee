"""Change the contrast."""

from __future__ import annotations

from dali_core import types
from dali_core._spec import UNSET, Arg, OpSpec

SPEC = OpSpec(
    name="contrast",
    doc="""Change the contrast of each image.

Every element becomes ``contrast_center + contrast * (x - contrast_center)``.

Integers round half away from zero and saturate. Nothing is copied if nothing changes.
""",
    input_docs=(
        "Images, volumes or sequences of type uint8, int16, int32, float16 or float32, "
        "with layout ``HWC``, ``FHWC`` or ``DHWC``.",
    ),
    devices=("cpu", "gpu"),
    args=(
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
        ),
    ),
)
