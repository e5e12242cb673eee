"""Labels and frame numbers."""

import json
import sys

from dali_core import types
from tests.cuda import video_codec
from tests.cuda.programs.video_codec.readers import clips, compare, sequences

paths = json.loads(sys.argv[1])
video_codec.install()
beside = {"labels": [3, 4], "enable_frame_num": "sequence"}
assert compare(sequences(pad_mode="edge", sequence_length=16, **beside), paths, batches=3)
seen = compare(sequences(pad_mode="constant", sequence_length=16, fill_value=[9], **beside), paths)
assert seen == {"h264.mp4", "h264_open_gop.mkv"}, "but for the clips that are padded"
assert not compare(sequences(enable_timestamps=True, **beside), paths), "times are the host's"
assert not compare(clips(dtype=types.UINT8), paths, on_sample_error="replace", max_bad_samples=9)
