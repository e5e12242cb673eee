"""Decode videos that the program hands over, sequence by sequence."""

from __future__ import annotations

from typing import Any

from dali_core._spec import REQUIRED, Arg, Moving, Native, OpSpec, PythonStep, Range, Source
from dali_core.errors import ArgumentFormError
from dali_core.operators.video.backends import video_arguments
from dali_core.operators.video.clip_arguments import COLOUR_ARGS


def _make_step(arguments: dict[str, Any]) -> Any:
    from dali_core.operators.experimental.inputs.video.step import FedVideosStep

    return FedVideosStep(arguments)


_LENGTH = Arg("sequence_length", int, "Frames of a sequence.", REQUIRED, range=Range(1, 2**20))
_BLOCKING = Arg(
    "blocking",
    bool,
    "Wait for `feed_input` instead of failing when nothing is fed.",
    False,
)

FED_VIDEOS = OpSpec(
    name="experimental.inputs.video.sequences",
    doc="""Divide videos that were fed into sequences.

Returns
-------
DataNode
    int64 of shape (6,): first frame, number of frames, how many sequences the video has, the number
    of the video, and the descriptor of its file and how many bytes it has.""",
    args=(
        _LENGTH,
        Arg("last_sequence_policy", str, "See `fn.experimental.inputs.video`.", "partial"),
        _BLOCKING,
    ),
    inputs=0,
    lower=PythonStep(_make_step),
    title="experimental.inputs.video",
)

_STEP_ARGS = ("name", "sequence_length", "last_sequence_policy", "blocking", "preserve")


def _bind(
    inputs: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The sequences are found in Python, and decoded by threads."""
    if inputs:
        raise ArgumentFormError(
            f"0 inputs must be passed (got {len(inputs)}). Use Pipeline.feed_input."
        )
    step = {name: keywords[name] for name in _STEP_ARGS if name in keywords}
    others = {name: value for name, value in keywords.items() if name != "name"}
    return (Source(FED_VIDEOS, step),), others


SPEC = OpSpec(
    name="experimental.inputs.video",
    doc="""Decode videos that the program hands over, sequence by sequence.

`Pipeline.feed_input` takes the bytes of one video, or several, one after the other: an array of
uint8, or a list of one array for each video. A batch has the next sequences of a video, as many as
the pipeline's batch size. It never has those of two videos, so the last batch of a video may be
smaller. Videos that were fed wait until the ones before have ended; when there is none left, the
pipeline raises an error, or waits.

The sequences of a batch are decoded at the same time.

Returns
-------
DataNode
    The frames, uint8 of layout ``FHWC``.""",
    args=(
        _LENGTH,
        Arg(
            "last_sequence_policy",
            str,
            'What the last sequence of a video is, if frames are missing: ``"partial"``, shorter; '
            'or ``"pad"``, filled with 0.',
            "partial",
            choices=("partial", "pad"),
        ),
        _BLOCKING,
        Arg("no_copy", bool, "Accepted without effect: data is always copied.", False),
        *COLOUR_ARGS,
        Arg("affine", bool, "Accepted without effect: threads are not tied to processors.", True),
    ),
    inputs=0,
    bind=_bind,
    moving=Moving("mixed"),
    lower=Native(at_build=video_arguments),
    role="fed",
)
