"""Decode frames of a file by their numbers, on the host."""

from __future__ import annotations

from dali_core._spec import Arg, Native, OpSpec
from dali_core.operators.video.backends import video_arguments
from dali_core.operators.video.clip_arguments import COLOUR_ARGS

SPEC = OpSpec(
    name="video.decoded_clip",
    doc="""Decode frames of a file by their numbers.""",
    inputs=2,
    input_docs=(
        "Path of the file, ``uint8`` in one dimension.",
        "Numbers of the frames, ``int64`` of shape (F,), with -1 for those that are filled.",
    ),
    args=(Arg("fill_value", list[int], "Colour of frames that are filled.", (0,)), *COLOUR_ARGS),
    title="video.decoded_clip",
    lower=Native(at_build=video_arguments),
)
