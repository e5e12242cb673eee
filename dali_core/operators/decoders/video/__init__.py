"""Decode videos that are in memory."""

from __future__ import annotations

from dali_core._spec import UNSET, Arg, Moving, Native, OpSpec, Range
from dali_core.operators.video.backends import video_arguments
from dali_core.operators.video.clip_arguments import COLOUR_ARGS, FILL_ARG, PAD_DOC, PAD_MODES

SPEC = OpSpec(
    name="decoders.video",
    doc="""Decode videos that are in memory.

Frames are counted from 0 in the order in which they are shown. Without any argument, all are
decoded. A file that is no sound video is an error of that sample.

Returns
-------
DataNode
    The frames, uint8 of layout ``FHWC``.""",
    input_docs=("Bytes of one video file a sample, ``uint8`` in one dimension.",),
    args=(
        Arg(
            "frames",
            list[int],
            "Numbers of the frames, in any order, and any of them more than once. Excludes "
            "`start_frame`, `end_frame`, `sequence_length` and `stride`.",
            UNSET,
            tensor=True,
            excludes=("start_frame", "end_frame", "sequence_length", "stride"),
        ),
        Arg("start_frame", int, "First frame; 0 by default.", UNSET, tensor=True),
        Arg(
            "end_frame",
            int,
            "First frame that is not wanted any more; by default, all to the end of the video are. "
            "Excludes `sequence_length`.",
            UNSET,
            tensor=True,
            excludes=("sequence_length",),
        ),
        Arg(
            "sequence_length",
            int,
            "Number of frames, from `start_frame` on.",
            UNSET,
            tensor=True,
            range=Range(0, 2**31 - 1),
        ),
        Arg(
            "stride",
            int,
            "Distance between two frames; 1 by default.",
            UNSET,
            tensor=True,
            range=Range(1, 2**31 - 1),
        ),
        Arg(
            "pad_mode",
            str,
            'What stands for frames before the first or after the last one. ``"none"``: nothing, '
            f"so that ranges get shorter, and an error for `frames`. {PAD_DOC}",
            "constant",
            choices=PAD_MODES,
        ),
        FILL_ARG,
        *COLOUR_ARGS,
        Arg(
            "build_index",
            bool,
            "Accepted without effect: the packets are always listed first, so that any frame is "
            "found exactly.",
            True,
        ),
        Arg("affine", bool, "Accepted without effect: threads are not tied to processors.", True),
    ),
    moving=Moving("mixed"),
    lower=Native(at_build=video_arguments),
)
