"""Arguments of `fn.experimental.readers.video`, and the rules by which it lists sequences."""

from __future__ import annotations

from typing import Any

from dali_core._spec import Arg
from dali_core.operators.video.clip_arguments import (
    COLOUR_ARGS,
    COUNT_ARGS,
    FILE_ARGS,
    FILL_ARG,
    LABELS_DOC,
    NOTE_ARGS,
    PAD_DOC,
    PAD_MODES,
)
from dali_core.operators.video.clip_ranges import ROUNDINGS, range_by_frames, range_by_times
from dali_core.operators.video.clip_table import ClipRule, ClipTable, clips_per_video, list_clips

SEQUENCE_READER_ARGS = (
    *FILE_ARGS,
    Arg(
        "file_list",
        str,
        "Text file with a path, a label, and possibly a start and an end on each line. The "
        "end is the first frame that does not belong to the part; a start without an end means "
        "the rest of the video. See `file_list_format`.",
        None,
    ),
    Arg("labels", list[int], LABELS_DOC, None),
    *COUNT_ARGS,
    *COLOUR_ARGS,
    Arg(
        "pad_mode",
        str,
        'What stands for frames that are missing at the end of a video. ``"none"``: leave '
        f"incomplete sequences out. All others give one more sequence. {PAD_DOC}",
        "none",
        choices=PAD_MODES,
    ),
    FILL_ARG,
    Arg(
        "uniform_sample",
        bool,
        "Give one sequence of each video, whose frames are evenly spread over it, and repeat "
        "if it has too few. `step`, `stride` and `pad_mode` have no effect then.",
        False,
    ),
    *NOTE_ARGS,
    Arg(
        "file_list_format",
        str,
        'What starts and ends in `file_list` are: ``"timestamps"`` in seconds, in the time of '
        'the file; or ``"frames"``, numbers from 0. Negative ones count from the end of the video; '
        "but a negative time as a start, with an end that is not negative, means the first frame, "
        "as in NVIDIA DALI.",
        "timestamps",
        choices=("timestamps", "frames"),
    ),
    Arg(
        "file_list_rounding",
        str,
        "To which frame a start and an end between two frames are rounded: "
        '``"start_down_end_up"``, ``"start_up_end_down"``, ``"all_up"`` or ``"all_down"``.',
        "start_down_end_up",
        choices=tuple(ROUNDINGS),
    ),
    Arg(
        "file_list_include_end",
        bool,
        "Accepted without effect, as in NVIDIA DALI: the frame at the end does not belong to "
        "the part.",
        True,
    ),
)


def open_sequences(arguments: dict[str, Any]) -> ClipTable:
    """List the sequences that the arguments ask for."""
    length, stride = arguments["sequence_length"], arguments["stride"]
    step = arguments["step"]
    rule = ClipRule(
        length=length,
        stride=stride,
        step=step if step > 0 else length * stride,
        span=length * stride,
        padding=arguments["pad_mode"],
        is_uniform=arguments["uniform_sample"],
        clips_per_range=clips_per_video(arguments, "step", "uniform_sample"),
    )
    by_frames = arguments["file_list_format"] == "frames"
    make = range_by_frames if by_frames else range_by_times
    return list_clips(arguments, rule, make(ROUNDINGS[arguments["file_list_rounding"]]))
