"""Codec errors name the remedy."""

import json
import os
import sys

from dali_core.errors import ArgumentValueError, MissingModuleError, SampleError
from tests.cuda import video_codec
from tests.cuda.programs.video_codec.readers import clips, frames

paths = json.loads(sys.argv[1])
video_codec.install()
import importlib.machinery


def message(kind):
    try:
        frames(clips(), paths, "gpu")
    except kind as error:
        return str(error)
    raise AssertionError("no error")


os.environ["DALI_CORE_GPU_VIDEO"] = "yes"
assert "DALI_CORE_GPU_VIDEO must be 0 or 1 (got 'yes')" in message(ArgumentValueError)
os.environ["DALI_CORE_GPU_VIDEO"] = "1"
del sys.modules["PyNvVideoCodec"]
text = message(MissingModuleError)
assert "PyNvVideoCodec (got none)" in text and "[nvvideo]" in text, text


class NoDriver:
    def find_spec(self, name, path=None, target=None):
        if name == "PyNvVideoCodec":
            return importlib.machinery.ModuleSpec(name, self)
        return None

    def create_module(self, spec):
        raise RuntimeError("libnvidia-encode.so.1: cannot open shared object file\nand so on")

    def exec_module(self, module):
        raise AssertionError


sys.meta_path.insert(0, NoDriver())
text = message(SampleError)
assert "PyNvVideoCodec must be able to start (got libnvidia-encode.so.1" in text, text
assert "fn.readers.video" in text and "DALI_CORE_GPU_VIDEO=0" in text, text
