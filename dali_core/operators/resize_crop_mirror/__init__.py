"""Resize images and volumes, cut a window out of the result, and mirror it."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec
from dali_core.operators.crop import CROP_WINDOW_ARGS
from dali_core.operators.resize import FILTER_ARGS, SIZE_ARGS

RESIZE_CROP_MIRROR_ARGS = (
    *SIZE_ARGS,
    *CROP_WINDOW_ARGS,
    Arg(
        "mirror",
        int,
        "Which axes are mirrored, as a sum: 1 for the width, 2 for the height, 4 for the depth of "
        "volumes.",
        default=0,
        tensor=True,
    ),
    *FILTER_ARGS,
)
"""Arguments of every operator that resizes, crops and mirrors."""

SPEC = OpSpec(
    name="resize_crop_mirror",
    keeps_type=True,
    doc="""Resize images and volumes, cut a window out of the result, and mirror it.

The result is that of `resize`, `crop` and `flip` one after the other, but only the pixels of the
window are computed. Where the window is larger than the resized image, the pixels at the edge are
repeated. Frames of sequences are neither cropped nor mirrored.

Layouts are ``HWC``, ``CHW``, ``HW``, with ``DHW`` in place of ``HW`` for volumes, and any of them
with F. Data without a layout is taken as ``HWC``, ``FHWC`` or ``FDHWC``.
""",
    input_docs=("Images, volumes or sequences of any type.",),
    devices=("cpu", "gpu"),
    args=RESIZE_CROP_MIRROR_ARGS,
)
