"""Convert between colour spaces."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import Arg, OpSpec

SPEC = OpSpec(
    name="color_space_conversion",
    keeps_type=True,
    doc="""Convert images from one colour space to another.

``YCbCr`` is that of ITU-R BT.601 with Y from 16 to 235, and Cb and Cr from 16 to 240. Grey is the
luma of the same recommendation in the full range. Numbers round half away from zero and saturate.
Nothing is copied if both colour spaces are the same.
""",
    input_docs=(
        "Images, volumes or sequences of type uint8, with layout ``HWC``, ``FHWC``, ``DHWC`` or "
        "``FDHWC`` and the channels of `image_type`.",
    ),
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "image_type",
            types.DALIImageType,
            "Colour space of the input: ``RGB``, ``BGR``, ``GRAY`` or ``YCbCr``.",
            choices=(types.RGB, types.BGR, types.GRAY, types.YCbCr),
        ),
        Arg(
            "output_type",
            types.DALIImageType,
            "Colour space of the output: ``RGB``, ``BGR``, ``GRAY`` or ``YCbCr``.",
            choices=(types.RGB, types.BGR, types.GRAY, types.YCbCr),
        ),
    ),
)
