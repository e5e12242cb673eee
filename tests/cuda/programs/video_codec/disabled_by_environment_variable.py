"""Disabled by environment variable."""

import json
import sys

from tests.cuda import video_codec
from tests.cuda.programs.video_codec.readers import clips, frames

paths = json.loads(sys.argv[1])
video_codec.install()
del sys.modules["PyNvVideoCodec"]
frames(clips(), paths, "gpu")
loaded = {"PyNvVideoCodec", "dali_core.operators.video.surfaces.step"} & set(sys.modules)
assert not loaded, loaded
