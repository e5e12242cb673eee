"""Operators after the reader."""

import json
import sys

from dali_core import fn
from tests.cuda import video_codec
from tests.cuda.programs.video_codec.readers import clips, compare

paths = json.loads(sys.argv[1])
video_codec.install()


def reader(names):
    def make(device):
        clip = clips(random_shuffle=True)(names)(device)
        return fn.resize(fn.crop(clip, crop=(30, 40)), size=(16, 20))

    return make


assert compare(reader, paths) == {"h264.mp4", "hevc.mp4"}
assert compare(reader, paths, prefetch_queue_depth=3, batch_size=2, batches=5)
