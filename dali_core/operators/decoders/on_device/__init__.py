"""Decode JPEG files on the pipeline's device, by nvImageCodec."""

from __future__ import annotations

from typing import Any

from dali_core import _types as types
from dali_core._spec import Arg, OpSpec, PythonStep
from dali_core.operators.decoders.arguments import DEVICE_ARGS


def _make_step(arguments: dict[str, Any]) -> Any:
    # Imported here: decoding on the host does not need it.
    from dali_core.operators.decoders.on_device.step import DecodeStep

    return DecodeStep(arguments)


SPEC = OpSpec(
    name="decoders.on_device",
    doc="""Decode JPEG files on the pipeline's device.

What the device's decoder refuses, and what may be damaged, becomes an image without pixels.
""",
    devices=("gpu",),
    input_device="mixed",
    input_docs=("Bytes of one image file a sample, on the host.",),
    lower=PythonStep(_make_step, reads_batch=lambda _: False),
    title="decoders.image",
    args=(
        Arg("output_type", types.DALIImageType, "Colour model of the output.", default=types.RGB),
        Arg("adjust_orientation", bool, "Turn the image as its Exif data demand.", default=True),
        *DEVICE_ARGS,
    ),
)
