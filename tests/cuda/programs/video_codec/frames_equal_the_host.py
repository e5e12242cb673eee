"""Frames equal the host."""

import json
import sys

from dali_core import types
from tests.cuda import video_codec
from tests.cuda.programs.video_codec.readers import clips, compare, sequences

paths = json.loads(sys.argv[1])
names = json.loads(sys.argv[2])
on_device = json.loads(sys.argv[3])
video_codec.install()
num_batches = 2 * len(names)
seen = compare(clips(step=16, stride=2, labels=[]), paths, batches=num_batches // 4)
assert seen == {*on_device}, seen

for kind in (types.BGR, types.GRAY, types.YCbCr):
    assert compare(sequences(image_type=kind), paths[4:6])
for matrix in ("bt709", "bt2020"):
    assert compare(sequences(color_matrix=matrix), paths[4:6])
assert compare(clips(color_matrix="auto", clips_per_video=3), [paths[0], paths[8]]) == {
    "h264_bt709.mp4"
}, "what says nothing of its matrix is for the host"
