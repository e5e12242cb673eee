"""Resize images, volumes and sequences."""

from __future__ import annotations

from typing import Any

from dali_core import _types as types
from dali_core._spec import UNSET, Arg, OpSpec

FILTER_ARGS = (
    Arg(
        "interp_type",
        types.DALIInterpType,
        "Filter for both directions. ``INTERP_TRIANGULAR`` is the same as ``INTERP_LINEAR``.",
        default=types.INTERP_LINEAR,
        tensor=True,
    ),
    Arg(
        "min_filter",
        types.DALIInterpType,
        "Filter for axes that get smaller; `interp_type` if not given.",
        default=UNSET,
        tensor=True,
    ),
    Arg(
        "mag_filter",
        types.DALIInterpType,
        "Filter for axes that get larger or keep their size; `interp_type` if not given.",
        default=UNSET,
        tensor=True,
    ),
    Arg(
        "antialias",
        bool,
        "Whether filters are widened when an axis gets smaller, so that every input pixel counts. "
        "Has no effect on ``INTERP_NN``.",
        default=True,
    ),
    Arg(
        "exclude_outside",
        bool,
        "Whether filters drop what they find outside of the image and divide by the sum of the "
        "weights inside, as in Pillow and PyTorch, whose curved filters are then computed exactly. "
        "Otherwise the edge pixel stands for it, and 32 samples a pixel for curved filters.",
        default=False,
    ),
    Arg(
        "dtype",
        types.DALIDataType,
        "Type of the output: ``FLOAT``, or the type of the input, which is the default.",
        default=UNSET,
    ),
    Arg(
        "minibatch_size",
        int,
        "Accepted for compatibility; without effect, as samples are processed one by one.",
        default=32,
    ),
    Arg(
        "temp_buffer_hint",
        int,
        "Accepted for compatibility; without effect, as temporary memory is reused.",
        default=0,
    ),
)
"""Arguments of all operators that resample."""


SIZE_ARGS = (
    Arg(
        "size",
        list[float],
        "Size of the output: ``(height, width)``, ``(depth, height, width)`` for volumes, or "
        "one number for all axes.",
        default=UNSET,
        tensor=True,
    ),
    Arg("resize_x", float, "Width of the output.", default=UNSET, tensor=True),
    Arg("resize_y", float, "Height of the output.", default=UNSET, tensor=True),
    Arg(
        "resize_z",
        float,
        "Depth of the output; without effect on images.",
        default=UNSET,
        tensor=True,
    ),
    Arg(
        "resize_shorter",
        float,
        "Size of the shorter axis; the aspect ratio is kept. The same as `size` with this "
        'number for all axes and ``mode="not_smaller"``.',
        default=UNSET,
        tensor=True,
    ),
    Arg(
        "resize_longer",
        float,
        "Size of the longer axis; the aspect ratio is kept. The same as `size` with this "
        'number for all axes and ``mode="not_larger"``.',
        default=UNSET,
        tensor=True,
    ),
    Arg(
        "mode",
        str,
        'How sizes are understood. ``"default"``: axes without a size scale by the geometric '
        'mean of the others. ``"stretch"``: they keep their size. ``"not_larger"``, '
        '``"not_smaller"``: the aspect ratio is kept, and no axis gets larger, or smaller, '
        "than its size. Excludes `resize_shorter` and `resize_longer`.",
        default=UNSET,
        choices=("default", "stretch", "not_larger", "not_smaller"),
    ),
    Arg(
        "max_size",
        list[float],
        "Largest size of the output: one number, or one for each axis. Modes that keep the "
        "aspect ratio still do.",
        default=UNSET,
    ),
    Arg(
        "roi_start",
        list[float],
        "Start of the region that is resized, in pixels, in the order of `size`. Where it lies "
        "after `roi_end`, the axis is mirrored. Filters reach beyond the region.",
        default=UNSET,
        tensor=True,
    ),
    Arg(
        "roi_end",
        list[float],
        "End of the region that is resized.",
        default=UNSET,
        tensor=True,
    ),
    Arg(
        "roi_relative",
        bool,
        "Whether the region is given in shares of the input's size instead of pixels.",
        default=False,
    ),
    Arg(
        "subpixel_scale",
        bool,
        "Whether a fractional size widens or narrows the region by what rounding adds or "
        "takes, which keeps the scale as it was asked for. Otherwise the scale changes.",
        default=True,
    ),
)
"""Size of the output and region of the input of every operator that resizes."""


def _num_outputs(arguments: dict[str, Any]) -> int | None:
    return 2 if arguments.get("save_attrs") else None


SPEC = OpSpec(
    name="resize",
    keeps_type=True,
    doc="""Resize images, volumes and sequences of them.

The size is given in one of four ways: `size`; `resize_x`, `resize_y` and `resize_z`;
`resize_shorter`; `resize_longer`. A size of 0 means that none is given for that axis. A negative
size mirrors the axis. Sizes may be fractional: the output has the nearest whole number of pixels.

Layouts are ``HWC``, ``CHW``, ``HW``, with ``DHW`` in place of ``HW`` for volumes, and any of them
with F. Data without a layout is taken as ``HWC``, ``FHWC`` or ``FDHWC``. Sums of ``uint8`` images
are in fixed point with an error of less than one grey level; other types are computed in single
precision. ``INTERP_NN`` copies values of any type exactly.
""",
    input_docs=("Images, volumes or sequences of any type.",),
    outputs=_num_outputs,
    devices=("cpu", "gpu"),
    args=(
        *SIZE_ARGS,
        Arg(
            "save_attrs",
            bool,
            "Whether to give, as a second output, the sizes of the input's axes.",
            default=False,
        ),
        *FILTER_ARGS,
        Arg(
            "image_type",
            types.DALIImageType,
            "Has no effect.",
            default=UNSET,
            deprecated="nothing: it has no effect",
        ),
    ),
)
