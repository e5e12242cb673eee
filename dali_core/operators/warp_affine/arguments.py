"""Arguments of all operators that warp images."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import UNSET, Arg

IMAGES = (
    "Images, volumes or sequences of them, of type uint8, int16, uint16, int32 or float32, with "
    "layout ``HWC``, ``FHWC``, ``DHWC`` or ``FDHWC``."
)

NOTES = """Between pixels, linear interpolation is computed in ``float32``. Integers round half away
from zero and saturate. Data without a layout is taken as ``HWC``, ``FHWC`` or ``FDHWC``."""

SIZE = Arg(
    "size",
    list[float],
    "Size of the output in pixels: ``(height, width)`` or ``(depth, height, width)``. A constant "
    "is rounded; what comes with each sample drops its fraction.",
    default=UNSET,
    tensor=True,
)

FILL_VALUE = Arg(
    "fill_value",
    float,
    "Value outside the image, for all channels. To blend with pixels it takes the type of the "
    "input, with ``INTERP_NN`` that of the output. By default, the pixels at the border are "
    "repeated.",
    default=UNSET,
    finite=False,
)

INTERP_TYPE = Arg(
    "interp_type",
    types.DALIInterpType,
    "``INTERP_LINEAR``, or ``INTERP_NN`` for the nearest pixel.",
    default=types.INTERP_LINEAR,
    choices=(types.INTERP_NN, types.INTERP_LINEAR),
)

DTYPE = Arg(
    "dtype",
    types.DALIDataType,
    "Type of the output: ``UINT8``, ``INT16``, ``UINT16``, ``INT32`` or ``FLOAT``; that of the "
    "input if left out.",
    default=UNSET,
    choices=(types.UINT8, types.INT16, types.UINT16, types.INT32, types.FLOAT),
)

OUTPUT_DTYPE = Arg(
    "output_dtype",
    types.DALIDataType,
    "Former name of `dtype`.",
    default=UNSET,
    deprecated="dtype",
    choices=(types.UINT8, types.INT16, types.UINT16, types.INT32, types.FLOAT),
)
