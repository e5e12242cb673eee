"""Decode a window of each image file, given by its ends or by its start and extent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dali_core._spec import UNSET, Arg, DeviceDecoding, Moving, Native, OpSpec
from dali_core.operators.decoders.arguments import DECODER_ARGS, INPUT_DOCS, LIMITS_DOC
from dali_core.operators.decoders.backends import backend_arguments
from dali_core.operators.decoders.image import SPEC as IMAGE
from dali_core.operators.decoders.on_device.choice import sliced_image
from dali_core.operators.slice import SLICE_ARGS, WINDOW_INPUT_DOCS


def _on_device(keywords: Mapping[str, Any]) -> DeviceDecoding | None:
    return sliced_image(IMAGE, keywords)


SPEC = OpSpec(
    name="decoders.image_slice",
    doc=f"""Decode a window of each image file, given by its ends or by its start and extent.

The window has one number for each of the axes, or a single one for all of them; axes that are not
named stay whole. Starts are 0 and ends those of the image unless they are given. Both are rounded
half away from zero to whole pixels after relative and absolute numbers have been added up. The
window must lie inside the image. The pixels are those of decoding the whole image and slicing it,
but rows and columns of a JPEG outside of the window are skipped.

{LIMITS_DOC}""",
    inputs=(1, 3),
    moving=Moving("mixed", _on_device),
    input_docs=(
        *INPUT_DOCS,
        *WINDOW_INPUT_DOCS,
    ),
    lower=Native(at_build=backend_arguments),
    args=(
        *DECODER_ARGS,
        Arg(
            "axes",
            list[int],
            "Dimensions that the window's numbers belong to: 0 is the height, 1 the width; "
            "negative ones count from the last. Excludes `axis_names`. ``[1, 0]`` by default.",
            default=UNSET,
            tensor=True,
        ),
        Arg(
            "axis_names",
            str,
            'Dimensions that the window\'s numbers belong to, by name. ``"WH"`` by default.',
            default=UNSET,
            excludes=("axes",),
        ),
        *SLICE_ARGS,
    ),
)
