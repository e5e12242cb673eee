"""Cut a window out of images, volumes and sequences."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import UNSET, Arg, OpSpec, Range

WINDOW_ARGS = (
    Arg(
        "out_of_bounds_policy",
        str,
        'What to do with a window that reaches beyond the input: ``"error"``, ``"pad"`` with '
        '`fill_values` (also called ``"constant"``), or ``"trim_to_shape"``. `crop` and `slice` '
        'also know how to repeat the input: ``"edge"`` (or ``"clamp"``) its last element, '
        '``"reflect"`` (or ``"reflect_1001"``) in a mirror beside the last element, '
        '``"reflect_101"`` in a mirror through its middle, ``"wrap"`` from the other side.',
        default="error",
    ),
    Arg(
        "fill_values",
        list[float],
        "Value of the padding: one number, or one for each channel. For integer types the fraction "
        "is dropped, and a number out of range wraps around.",
        default=[0.0],
        finite=False,
    ),
    Arg(
        "image_type",
        types.DALIImageType,
        "Has no effect.",
        default=UNSET,
        deprecated="nothing: it has no effect",
    ),
    Arg(
        "output_dtype",
        types.DALIDataType,
        "Former name of `dtype`.",
        default=UNSET,
        deprecated="dtype",
    ),
)
"""Arguments of every operator that copies a window."""

DTYPE_ARG = Arg(
    "dtype",
    types.DALIDataType,
    "Type of the output: ``UINT8``, ``FLOAT16``, ``FLOAT`` or, by default, that of the "
    "input. Numbers saturate, and integers drop the fraction.",
    default=UNSET,
)
"""Type of the elements of a window."""

CROP_WINDOW_ARGS = (
    Arg(
        "crop",
        list[float],
        "Extent of the window: ``(height, width)`` or ``(depth, height, width)``. An extent of 0 "
        "keeps the dimension whole. Excludes `crop_w`, `crop_h` and `crop_d`.",
        default=UNSET,
        tensor=True,
        range=Range(0),
        excludes=("crop_w", "crop_h", "crop_d"),
    ),
    Arg(
        "crop_w",
        float,
        "Width of the window; needs `crop_h`.",
        default=UNSET,
        tensor=True,
        range=Range(0),
    ),
    Arg(
        "crop_h",
        float,
        "Height of the window; needs `crop_w`.",
        default=UNSET,
        tensor=True,
        range=Range(0),
    ),
    Arg(
        "crop_d",
        float,
        "Depth of the window in a volume, or frames in a sequence; needs `crop_w` and `crop_h`.",
        default=UNSET,
        tensor=True,
        range=Range(0),
    ),
    Arg(
        "crop_pos_x",
        float,
        "Horizontal position of the window, from 0 (flush left) to 1 (flush right).",
        default=0.5,
        tensor=True,
        range=Range(0, 1),
    ),
    Arg(
        "crop_pos_y",
        float,
        "Vertical position of the window, from 0 (top) to 1 (bottom).",
        default=0.5,
        tensor=True,
        range=Range(0, 1),
    ),
    Arg(
        "crop_pos_z",
        float,
        "Position of the window in depth or in frames, from 0 (first) to 1 (last).",
        default=0.5,
        tensor=True,
        range=Range(0, 1),
    ),
    Arg(
        "rounding",
        str,
        'How the position becomes a whole pixel: ``"round"`` (half away from zero) or '
        '``"truncate"``.',
        default="round",
        choices=("round", "truncate"),
    ),
)
"""Extent and position of the window of every operator that crops."""

CROP_ARGS = (*CROP_WINDOW_ARGS, *WINDOW_ARGS)
"""Arguments of every operator that crops to a window of given extent and position."""

SPEC = OpSpec(
    name="crop",
    keeps_type=True,
    doc="""Cut a window out of each image, volume or sequence.

The window starts at ``crop_pos * (extent of the image - extent of the window)``. Without `crop` or
`crop_w` and `crop_h`, the image passes through whole.

Layouts are any arrangement of F, D, H, W and C with H and W. Data without a layout is taken as
``HW``, ``HWC``, ``DHWC`` or ``FDHWC``.
""",
    input_docs=("Images, volumes or sequences of any type.",),
    devices=("cpu", "gpu"),
    args=(
        *CROP_ARGS,
        DTYPE_ARG,
    ),
)
