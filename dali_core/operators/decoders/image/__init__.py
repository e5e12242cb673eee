"""Decode image files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dali_core._spec import Arg, DeviceDecoding, Moving, Native, OpSpec, Range
from dali_core.operators.decoders.arguments import DECODER_ARGS, INPUT_DOCS, LIMITS_DOC
from dali_core.operators.decoders.backends import backend_arguments
from dali_core.operators.decoders.on_device.choice import whole_image

_CACHE_DOC = "Accepted for compatibility; without effect on a CPU, where nothing is cached."


def _on_device(keywords: Mapping[str, Any]) -> DeviceDecoding | None:
    return whole_image(SPEC, keywords)


SPEC = OpSpec(
    name="decoders.image",
    doc=f"""Decode image files.

{LIMITS_DOC}""",
    moving=Moving("mixed", _on_device),
    input_docs=INPUT_DOCS,
    lower=Native(at_build=backend_arguments),
    args=(
        *DECODER_ARGS,
        Arg(
            "scaled_decode",
            bool,
            "Let JPEG shrink by 2, 4 or 8 in its inverse transform, where the operators that "
            "follow shrink the image at least as much and run as one with this one (see "
            "`Pipeline.plan`). Faster, but pixels change a little, and they differ from those "
            "with ``optimize=False``.",
            default=False,
        ),
        Arg("cache_size", int, _CACHE_DOC, default=0, range=Range(0)),
        Arg("cache_threshold", int, _CACHE_DOC, default=0, range=Range(0)),
        Arg("cache_type", str, _CACHE_DOC, default=""),
        Arg("cache_debug", bool, _CACHE_DOC, default=False),
        Arg("cache_batch_copy", bool, _CACHE_DOC, default=True),
    ),
)
