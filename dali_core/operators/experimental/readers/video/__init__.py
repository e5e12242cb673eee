"""Read sequences of frames from video files."""

from __future__ import annotations

from dali_core._spec import Moving, Native, OpSpec
from dali_core.operators.video.backends import video_arguments
from dali_core.operators.video.clip_arguments import (
    DAMAGE_DOC,
    OUTPUTS_DOC,
    bind_frame_num,
    num_outputs,
)
from dali_core.operators.video.sequence_reader import SEQUENCE_READER_ARGS, open_sequences
from dali_core.operators.video.surfaces.choice import sequences

SPEC = OpSpec(
    name="experimental.readers.video",
    doc=f"""Read sequences of frames from video files.

Which files: those in `filenames`; or all in the folders in `file_root`; or those in `file_list`. A
sequence starts at every `step` frames of a video, as long as there are ``sequence_length * stride``
of them; see `pad_mode` for what is left at the end. Videos may differ in codec, size and frame
rate, which may vary.

{DAMAGE_DOC}

{OUTPUTS_DOC}""",
    args=SEQUENCE_READER_ARGS,
    inputs=0,
    outputs=num_outputs,
    moving=Moving("gpu", sequences),
    bind=bind_frame_num,
    reader=open_sequences,
    lower=Native(at_build=video_arguments),
)
