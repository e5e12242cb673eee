"""Arguments of `fn.readers.video`, and the rules by which it lists clips."""

from __future__ import annotations

from typing import Any

from dali_core import _types as types
from dali_core._spec import Arg, Range
from dali_core.errors import ArgumentValueError
from dali_core.operators.video.clip_arguments import (
    COLOUR_ARGS,
    COUNT_ARGS,
    FILE_ARGS,
    LABELS_DOC,
    NOTE_ARGS,
)
from dali_core.operators.video.clip_ranges import (
    ROUNDINGS,
    range_by_frames,
    range_by_rounded_seconds,
)
from dali_core.operators.video.clip_table import ClipRule, ClipTable, clips_per_video, list_clips

VIDEO_READER_ARGS = (
    *FILE_ARGS,
    Arg(
        "file_list",
        str,
        "Text file with a path, a label, and possibly a start and an end on each line: seconds "
        "since the first frame, or, with `file_list_frame_num`, numbers of frames. Negative ones "
        "count from the end of the video. The end is the first frame that does not belong to the "
        "part.",
        None,
    ),
    Arg("labels", list[int], f"{LABELS_DOC} An empty list stands for 0, 1, 2, ...", None),
    *COUNT_ARGS,
    *COLOUR_ARGS,
    Arg(
        "pad_sequences",
        bool,
        "Give one more sequence at the end of a video if some of its frames exist. The others are "
        "0, their numbers and times -1.",
        False,
    ),
    *NOTE_ARGS,
    Arg(
        "file_list_frame_num",
        bool,
        "Whether starts and ends in `file_list` are numbers of frames. Starts are rounded up, ends "
        "down.",
        False,
    ),
    Arg(
        "file_list_include_preceding_frame",
        bool,
        "Round times in `file_list` the other way: starts down to the frame that is shown, ends "
        "up. Otherwise starts are rounded up, and ends down.",
        False,
    ),
    Arg(
        "channels",
        int,
        "Accepted for compatibility: the number of channels follows from `image_type`.",
        3,
        range=Range(1, 4),
    ),
    Arg(
        "dtype",
        types.DALIDataType,
        "Type of the frames: ``UINT8``, or ``FLOAT`` with the same values.",
        types.UINT8,
    ),
    Arg("normalized", bool, "Divide by 255; with ``dtype=FLOAT`` only.", False),
    Arg(
        "skip_vfr_check",
        bool,
        "Accepted without effect: frame rates may vary.",
        False,
    ),
    Arg(
        "additional_decode_surfaces",
        int,
        "Accepted without effect on a CPU.",
        2,
        range=Range(0),
    ),
)


def open_videos(arguments: dict[str, Any]) -> ClipTable:
    """List the clips that the arguments ask for."""
    if arguments["dtype"] not in (types.UINT8, types.FLOAT):
        raise ArgumentValueError(
            f"dtype must be UINT8 or FLOAT (got {arguments['dtype'].name}). Cast the frames."
        )
    if arguments["normalized"] and arguments["dtype"] is not types.FLOAT:
        raise ArgumentValueError(
            "normalized needs dtype=FLOAT (got UINT8, which has no values between 0 and 1). Pass "
            "dtype=FLOAT, too."
        )
    length, stride, step = (arguments[name] for name in ("sequence_length", "stride", "step"))
    rule = ClipRule(
        length=length,
        stride=stride,
        step=step if step > 0 else length * stride,
        span=1 + (length - 1) * stride,
        padding="constant" if arguments["pad_sequences"] else "none",
        clips_per_range=clips_per_video(arguments, "step"),
    )
    if arguments["file_list_frame_num"]:
        find = range_by_frames(ROUNDINGS["start_up_end_down"])
    elif arguments["file_list_include_preceding_frame"]:
        find = range_by_rounded_seconds(ROUNDINGS["start_down_end_up"])
    else:
        find = range_by_rounded_seconds(ROUNDINGS["start_up_end_down"])
    return list_clips(arguments, rule, find, numbers_labels=True)
