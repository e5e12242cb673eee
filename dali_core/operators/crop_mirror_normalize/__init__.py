"""Crop, mirror, normalise and reorder images in one pass."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import Arg, OpSpec, Range
from dali_core.operators.crop import CROP_ARGS
from dali_core.operators.normalize.ranges import remark_on_ranges

SPEC = OpSpec(
    name="crop_mirror_normalize",
    doc="""Crop, mirror, normalise and reorder each image in one pass.

The window is cut out first, then mirrored left to right if `mirror` is nonzero, then normalised::

    output = scale * (input - mean) / std + shift

Integer outputs round half away from zero and saturate. Padding is not normalised: it has the value
`fill_values`. Without `crop` or `crop_w` and `crop_h`, the whole image is used.

Layouts are any arrangement of F, D, H, W and C with H and W. Data without a layout is taken as
``HW``, ``HWC``, ``DHWC`` or ``FDHWC``.
""",
    input_docs=("Images, volumes or sequences of any type.",),
    devices=("cpu", "gpu"),
    remark=remark_on_ranges("mean", "std"),
    args=(
        *CROP_ARGS,
        Arg("mirror", int, "Mirror the window left to right if nonzero.", default=0, tensor=True),
        Arg(
            "mean",
            list[float],
            "What is subtracted: one number, or one for each channel.",
            default=[0.0],
            tensor=True,
        ),
        Arg(
            "std",
            list[float],
            "What is divided by: one number, or one for each channel.",
            default=[1.0],
            tensor=True,
            range=Range(0),
        ),
        Arg("scale", float, "Factor of the normalised value; not 0.", default=1.0),
        Arg("shift", float, "Added to the normalised and scaled value.", default=0.0),
        Arg("dtype", types.DALIDataType, "Type of the output.", default=types.FLOAT),
        Arg(
            "output_layout",
            str,
            "Layout of the output: the letters of the input's layout in any order. An empty text "
            "keeps the input's layout.",
            default="CHW",
        ),
        Arg(
            "pad_output",
            bool,
            "Whether to add channels until their number is a power of two. They are 0, or "
            '`fill_values` where `out_of_bounds_policy` is ``"pad"``.',
            default=False,
        ),
    ),
)
