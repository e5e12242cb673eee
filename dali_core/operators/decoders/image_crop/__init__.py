"""Decode a window of given extent and position of each image file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dali_core._spec import DeviceDecoding, Moving, Native, OpSpec
from dali_core.operators.crop import CROP_ARGS
from dali_core.operators.decoders.arguments import DECODER_ARGS, INPUT_DOCS, LIMITS_DOC
from dali_core.operators.decoders.backends import backend_arguments
from dali_core.operators.decoders.image import SPEC as IMAGE
from dali_core.operators.decoders.on_device.choice import cropped_image

_WINDOW_ARGS = (
    "crop",
    "crop_w",
    "crop_h",
    "crop_d",
    "crop_pos_x",
    "crop_pos_y",
    "crop_pos_z",
    "rounding",
)


def _on_device(keywords: Mapping[str, Any]) -> DeviceDecoding | None:
    return cropped_image(IMAGE, keywords)


SPEC = OpSpec(
    name="decoders.image_crop",
    doc=f"""Decode a window of given extent and position of each image file.

The pixels are those of decoding the whole image and cropping it with `fn.crop`, but rows and
columns of a JPEG outside of the window are skipped. The window must lie inside the image. Images
have no depth, so `crop_d` and `crop_pos_z` have no effect.

{LIMITS_DOC}""",
    moving=Moving("mixed", _on_device),
    input_docs=INPUT_DOCS,
    lower=Native(at_build=backend_arguments),
    args=(*DECODER_ARGS, *(arg for arg in CROP_ARGS if arg.name in _WINDOW_ARGS)),
)
