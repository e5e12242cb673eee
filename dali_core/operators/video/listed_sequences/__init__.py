"""List the clips of `fn.experimental.readers.video`, for what decodes them on a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dali_core._spec import Arg, Native, OpSpec
from dali_core.operators.video.backends import video_arguments
from dali_core.operators.video.clip_arguments import bind_frame_num, num_outputs
from dali_core.operators.video.clip_table import ClipTable
from dali_core.operators.video.sequence_reader import SEQUENCE_READER_ARGS, open_sequences


def _num_outputs(arguments: dict[str, Any]) -> int:
    return (num_outputs(arguments) or 1) + 1


def listing(
    name: str, reader: str, args: Sequence[Arg], open_data: Callable[[dict[str, Any]], ClipTable]
) -> OpSpec:
    """Describe what lists the clips of a reader: the paths and the frames in place of pixels."""
    return OpSpec(
        name=name,
        doc="""List clips of videos, without decoding them.

Returns
-------
list of DataNode
    The path of the file, uint8 of shape (bytes,); numbers of the frames, int64 of shape (F,), with
    -1 for those that are filled; and what the reader gives beside its frames.""",
        args=args,
        inputs=0,
        outputs=_num_outputs,
        bind=bind_frame_num,
        reader=open_data,
        lower=Native("video.listed_clips", at_build=video_arguments),
        title=reader,
    )


SPEC = listing(
    "video.listed_sequences",
    "experimental.readers.video",
    SEQUENCE_READER_ARGS,
    open_sequences,
)
