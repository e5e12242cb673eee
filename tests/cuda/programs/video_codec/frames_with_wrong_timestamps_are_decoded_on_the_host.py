"""Frames with wrong timestamps are decoded on the host."""

import json
import sys

from tests.cuda import video_codec
from tests.cuda.programs.video_codec.readers import clips, compare

paths = json.loads(sys.argv[1])
video_codec.install()
video_codec.late.add("h264.mp4")
assert compare(clips(), paths) == {"hevc.mp4"}
assert {name for name, _ in video_codec.decoded} == {"h264.mp4", "hevc.mp4"}
video_codec.late.clear()
video_codec.refused.add("hevc.mp4")
assert compare(clips(), paths) == {"h264.mp4"}
