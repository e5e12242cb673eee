"""Arguments that readers of videos share, and the number of their outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dali_core import _types as types
from dali_core._spec import REQUIRED, UNSET, Arg, Range
from dali_core._storage import STORAGE_ARGS

FILE_ARGS = (
    Arg("filenames", list[str], "Paths of the videos.", None),
    Arg(
        "file_root", str, "Folder with a folder of videos for each class; labels count them.", None
    ),
    *STORAGE_ARGS,
)

LABELS_DOC = "Label of each entry of `filenames`. Without it, they have none."

COUNT_ARGS = (
    Arg("sequence_length", int, "Frames of a sequence.", REQUIRED, range=Range(1, 2**20)),
    Arg("stride", int, "Distance between two frames of a sequence.", 1, range=Range(1, 2**31 - 1)),
    Arg(
        "step",
        int,
        "Distance between the first frames of two sequences; -1 and 0 stand for ``sequence_length "
        "* stride``.",
        -1,
        range=Range(-(2**31), 2**31 - 1),
    ),
    Arg(
        "clips_per_video",
        int,
        "Give so many sequences of each video an epoch, which start anywhere in it, instead of "
        "those at every `step`. They are drawn anew for each epoch, from the reader's `seed` or, "
        "without one, the pipeline's.",
        UNSET,
        range=Range(1, 2**20),
    ),
)

COLOUR_ARGS = (
    Arg(
        "image_type",
        types.DALIImageType,
        "Colours of the frames: ``RGB``, ``BGR``, ``GRAY`` or ``YCbCr`` (ITU-R BT.601, with "
        "headroom).",
        types.RGB,
    ),
    Arg(
        "color_matrix",
        str,
        'How luma and chroma become red, green and blue. ``"bt601"``, whatever the file says, as '
        'in NVIDIA DALI; ``"bt709"``; ``"bt2020"``; or ``"auto"``: as the file says.',
        "bt601",
        choices=("bt601", "bt709", "bt2020", "auto"),
    ),
)

NOTE_ARGS = (
    Arg(
        "enable_frame_num",
        str,
        'Give frame numbers, counted from 0 in each file. ``"scalar"`` or True: that of the first '
        'frame, int32 of shape (1,). ``"sequence"``: those of all frames, of shape (F,), with -1 '
        'for frames that are filled. ``"none"`` or False: give none.',
        "none",
        choices=("none", "scalar", "sequence"),
    ),
    Arg(
        "enable_timestamps",
        bool,
        "Give the time of each frame in seconds since the first one of the file, float64 of shape "
        "(F,), with -1 for frames that are filled.",
        False,
    ),
)

PAD_DOC = (
    '``"constant"``: `fill_value`. ``"edge"``, ``"repeat"``: the last frame. ``"reflect_1001"``, '
    '``"symmetric"``: the frames before the end, backwards, the last one again. '
    '``"reflect_101"``, ``"reflect"``: the same without the last one again.'
)

PAD_MODES = (
    *("none", "constant", "edge", "repeat", "reflect_1001", "symmetric", "reflect_101", "reflect"),
)

FILL_ARG = Arg(
    "fill_value",
    list[int],
    "Colour of frames that are filled: one value for each channel, or one for all.",
    (0,),
    range=Range(0, 255),
)

OUTPUTS_DOC = """Returns
-------
DataNode, or several
    The frames, uint8 of layout ``FHWC``; the label, int32 of shape (1,), unless the files are in
    `filenames` without `labels`; frame numbers and timestamps, if they are asked for."""

DAMAGE_DOC = """The files are indexed when the pipeline is built, without decoding a frame; indices
are kept in a cache. A file that is no sound video is one bad sample (see `on_sample_error` of
`Pipeline`), so nothing is left out without notice; only what lies below `file_root`, cannot be
read, and has not the name of a video is left out with a warning. So are ranges in a `file_list`
that mean no frame."""

_FLAGS = {False: "none", True: "scalar", "False": "none", "True": "scalar"}


def bind_frame_num(
    inputs: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Let `enable_frame_num` be a boolean."""
    wanted = keywords.get("enable_frame_num")
    if isinstance(wanted, (bool, str)) and wanted in _FLAGS:
        keywords = keywords | {"enable_frame_num": _FLAGS[wanted]}
    return inputs, keywords


def num_outputs(arguments: Mapping[str, Any]) -> int | None:
    """Return the number of outputs of a reader of videos, None for a single one."""
    has_labels = arguments.get("filenames") is None or arguments.get("labels") is not None
    has_numbers = arguments.get("enable_frame_num", "none") != "none"
    count = 1 + has_labels + has_numbers + bool(arguments.get("enable_timestamps"))
    return count if count > 1 else None
