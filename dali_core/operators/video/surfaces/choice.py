"""Chooses whether readers of videos decode on the device, and by which operators."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dali_core import _types as types
from dali_core._extras import install_command
from dali_core._spec import DeviceVideos, OpSpec, Source
from dali_core.errors import ArgumentValueError, MissingModuleError
from dali_core.operators.conditional.merge import SPEC as MERGE
from dali_core.operators.video.converted_surfaces import SPEC as CONVERT
from dali_core.operators.video.decoded_clip import SPEC as DECODE_ON_HOST
from dali_core.operators.video.described_video import SPEC as DESCRIBE
from dali_core.operators.video.listed_clips import SPEC as LISTED_CLIPS
from dali_core.operators.video.listed_sequences import SPEC as LISTED_SEQUENCES
from dali_core.operators.video.surfaces import SPEC as DECODE

GPU_VIDEO_VARIABLE = "DALI_CORE_GPU_VIDEO"
"""Environment variable: ``1`` decodes videos of readers on the GPU, by PyNvVideoCodec.

Without it the host decodes, until decoding on a GPU is verified.
"""

_MODULE = "PyNvVideoCodec"
_OF_COLOURS = ("image_type", "color_matrix")


def gpu_video_is_wanted() -> bool:
    """Return whether PyNvVideoCodec is to decode, without importing it or asking CUDA.

    Raises
    ------
    MissingModuleError
        It is to decode, and is not installed.
    """
    wanted = os.environ.get(GPU_VIDEO_VARIABLE, "0")
    if wanted not in ("0", "1"):
        raise ArgumentValueError(
            f"{GPU_VIDEO_VARIABLE} must be 0 or 1 (got {wanted!r}). Unset it to decode on the host."
        )
    if wanted == "0":
        return False
    if _MODULE not in sys.modules and importlib.util.find_spec(_MODULE) is None:
        raise MissingModuleError(
            f"{GPU_VIDEO_VARIABLE}=1 needs PyNvVideoCodec (got none). Install it: "
            f"{install_command('nvvideo')}; or unset the variable to decode on the host."
        )
    return True


def clips(keywords: Mapping[str, Any]) -> DeviceVideos | None:
    """Return how `fn.readers.video` decodes on the device; None if the host does."""
    if keywords.get("dtype", types.UINT8) is not types.UINT8:
        return None
    return _decoding("readers.video", LISTED_CLIPS, keywords)


def sequences(keywords: Mapping[str, Any]) -> DeviceVideos | None:
    """Return how `fn.experimental.readers.video` decodes on the device; None if the host does."""
    return _decoding("experimental.readers.video", LISTED_SEQUENCES, keywords)


def _decoding(name: str, reader: OpSpec, keywords: Mapping[str, Any]) -> DeviceVideos | None:
    # Times of frames are found where they are decoded, which is on the host.
    if not gpu_video_is_wanted() or keywords.get("enable_timestamps"):
        return None

    def named(spec: OpSpec, arguments: dict[str, Any]) -> Source:
        return Source(replace(spec, title=name), arguments)

    def some(*names: str) -> dict[str, Any]:
        return {name: keywords[name] for name in names if name in keywords}

    return DeviceVideos(
        reader=reader,
        describe=named(DESCRIBE, some("color_matrix")),
        decoder=named(DECODE, {"device": "gpu"}),
        convert=named(CONVERT, some(*_OF_COLOURS)),
        otherwise=named(DECODE_ON_HOST, some(*_OF_COLOURS, "fill_value")),
        merge=named(MERGE, {}).spec,
    )
