"""Decode videos on the pipeline's device, by PyNvVideoCodec."""

from __future__ import annotations

from typing import Any

from dali_core._spec import OpSpec, PythonStep


def _make_step(arguments: dict[str, Any]) -> Any:
    # Imported here: decoding on the host does not need it.
    from dali_core.operators.video.surfaces.step import DecodeFramesStep

    return DecodeFramesStep()


SPEC = OpSpec(
    name="video.surfaces",
    doc="""Decode frames of files to surfaces on the device.

What the device refuses, or gives other frames of than those that were asked for, has no surface.
""",
    devices=("gpu",),
    input_device="mixed",
    inputs=3,
    input_docs=(
        "Path of the file, ``uint8`` in one dimension, on the host.",
        "Numbers of the frames, ``int64`` of shape (F,), on the host.",
        "What `video.described_video` says of the file, on the host.",
    ),
    lower=PythonStep(_make_step, reads_batch=lambda _: False),
    title="video.surfaces",
)
