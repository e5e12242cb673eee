"""Damaged files raise the errors of the host."""

import json
import sys

from dali_core.errors import SampleError
from tests.cuda import video_codec
from tests.cuda.programs.video_codec.readers import clips, frames

damaged = json.loads(sys.argv[2])
video_codec.install()
video_codec.refused.add("damaged.mp4")
messages = []
for device in ("cpu", "gpu"):
    try:
        frames(clips(sequence_length=30), [damaged], device)
    except SampleError as error:
        messages.append(str(error).split("sample")[-1])
assert len(messages) == 2 and messages[0] == messages[1], messages
assert "damaged.mp4" in messages[0], messages
