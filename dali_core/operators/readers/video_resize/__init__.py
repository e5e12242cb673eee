"""Read sequences of frames from video files and resize them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dali_core._spec import Moving, Native, OpSpec
from dali_core.operators.resize import FILTER_ARGS, SIZE_ARGS
from dali_core.operators.video.backends import video_arguments
from dali_core.operators.video.clip_arguments import (
    DAMAGE_DOC,
    OUTPUTS_DOC,
    bind_frame_num,
    num_outputs,
)
from dali_core.operators.video.clip_reader import VIDEO_READER_ARGS, open_videos

_NORMALIZED = "readers.video_resize.normalized"


def _variant(arguments: Mapping[str, Any]) -> str:
    return _NORMALIZED if arguments["normalized"] else ""


_OWN = {arg.name for arg in VIDEO_READER_ARGS}

SPEC = OpSpec(
    name="readers.video_resize",
    doc=f"""Read sequences of frames from video files and resize them.

The same as `fn.readers.video`, followed by `fn.resize` with its arguments. With ``dtype=FLOAT``,
the sums of resizing are not rounded.

{DAMAGE_DOC}

{OUTPUTS_DOC}""",
    args=(
        *VIDEO_READER_ARGS,
        *SIZE_ARGS,
        *(arg for arg in FILTER_ARGS if arg.name not in _OWN),
    ),
    inputs=0,
    outputs=num_outputs,
    moving=Moving("gpu"),
    bind=bind_frame_num,
    reader=open_videos,
    lower=Native(
        "readers.video_resize", {"save_attrs": False}, variant=_variant, at_build=video_arguments
    ),
)
