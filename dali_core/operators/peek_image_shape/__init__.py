"""Read the shape of images from the headers of their files."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import Arg, Native, OpSpec
from dali_core.operators.decoders.arguments import INPUT_DOCS
from dali_core.operators.decoders.backends import backend_arguments
from dali_core.operators.shapes import SHAPE_TYPES

SPEC = OpSpec(
    name="peek_image_shape",
    doc="""Read the shape that each image file will have once it is decoded, without decoding it.

The output is ``(height, width, channels)``, the shape of what `fn.decoders.image` gives.
""",
    input_docs=INPUT_DOCS,
    lower=Native(at_build=backend_arguments),
    args=(
        Arg(
            "image_type",
            types.DALIImageType,
            "Colour model in which the image would be decoded; it decides on the channels.",
            default=types.RGB,
        ),
        Arg(
            "dtype",
            types.DALIDataType,
            "Type of the output: ``INT32``, ``UINT32``, ``INT64``, ``UINT64``, ``FLOAT`` or "
            "``FLOAT64``.",
            default=types.INT64,
            choices=SHAPE_TYPES,
        ),
        Arg(
            "adjust_orientation",
            bool,
            "Give the shape of the image turned as its Exif orientation demands.",
            default=True,
        ),
    ),
)
