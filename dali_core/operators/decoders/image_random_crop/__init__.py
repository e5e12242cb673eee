"""Decode a random window of each image file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dali_core._spec import Arg, DeviceDecoding, Moving, Native, OpSpec, Range
from dali_core.operators.decoders.arguments import DECODER_ARGS, INPUT_DOCS, LIMITS_DOC
from dali_core.operators.decoders.backends import backend_arguments
from dali_core.operators.decoders.image import SPEC as IMAGE
from dali_core.operators.decoders.on_device.choice import randomly_cropped_image


def _on_device(keywords: Mapping[str, Any]) -> DeviceDecoding | None:
    return randomly_cropped_image(IMAGE, keywords)


SPEC = OpSpec(
    name="decoders.image_random_crop",
    doc=f"""Decode a random window of each image file.

The pixels are those of decoding the whole image and cutting the window out, but rows and columns
of a JPEG outside of it are skipped. The window's area is uniform in `random_area`, its aspect ratio
log-uniform in `random_aspect_ratio`, its position uniform. Where no attempt fits into the image,
the largest window with an aspect ratio in the range is taken.

{LIMITS_DOC}""",
    moving=Moving("mixed", _on_device),
    input_docs=INPUT_DOCS,
    random=True,
    lower=Native(at_build=backend_arguments),
    args=(
        *DECODER_ARGS,
        Arg(
            "random_area",
            list[float],
            "Range of the window's area, as a share of the image's area.",
            default=[0.08, 1.0],
            range=Range(0),
            length=Range(1, 2),
        ),
        Arg(
            "random_aspect_ratio",
            list[float],
            "Range of the window's aspect ratio, width divided by height.",
            default=[0.75, 1.333333],
            range=Range(0, above=True),
            length=Range(1, 2),
        ),
        Arg(
            "num_attempts",
            int,
            "How many windows are drawn at most until one fits into the image.",
            default=10,
            range=Range(0),
        ),
    ),
)
