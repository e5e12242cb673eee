"""Read sequences of frames from video files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dali_core import _types as types
from dali_core._spec import Moving, Native, OpSpec
from dali_core.operators.video.backends import video_arguments
from dali_core.operators.video.clip_arguments import (
    DAMAGE_DOC,
    OUTPUTS_DOC,
    bind_frame_num,
    num_outputs,
)
from dali_core.operators.video.clip_reader import VIDEO_READER_ARGS, open_videos
from dali_core.operators.video.surfaces.choice import clips

_FLOATS = "readers.video.floats"


def _variant(arguments: Mapping[str, Any]) -> str:
    return _FLOATS if arguments["dtype"] is types.FLOAT else ""


SPEC = OpSpec(
    name="readers.video",
    doc=f"""Read sequences of frames from video files.

Which files: those in `filenames`; or all in the folders in `file_root`; or those in `file_list`. A
sequence starts at every `step` frames of a video, as long as there are ``1 + (sequence_length - 1)
* stride`` of them. Videos may differ in codec, size and frame rate, which may vary. NVIDIA DALI has
this operator on GPUs only.

{DAMAGE_DOC}

{OUTPUTS_DOC}""",
    args=VIDEO_READER_ARGS,
    inputs=0,
    outputs=num_outputs,
    moving=Moving("gpu", clips),
    bind=bind_frame_num,
    reader=open_videos,
    lower=Native("readers.video", variant=_variant, at_build=video_arguments),
)
