"""Codec start failure is an error."""

import sys

from dali_core import fn
from dali_core.errors import CudaError, SampleError
from tests.cuda.programs.image_codec.files import encoded
from tests.cuda.programs.pipeline_streams.pipelines import made


def fails(**options):
    raise RuntimeError("no nvJPEG")


sys.modules["nvidia.nvimgcodec"].Decoder = fails
pipeline = made(lambda: [fn.decoders.image(encoded(), device="mixed")])
try:
    pipeline.run()
except SampleError as error:
    assert isinstance(error.__cause__, CudaError)
    text = str(error)
else:
    raise AssertionError
assert "no nvJPEG" in text and "[nvjpeg]" in text, text
assert "DALI_CORE_GPU_DECODER=0" in text
