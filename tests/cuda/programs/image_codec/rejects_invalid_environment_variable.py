"""Rejects invalid environment variable."""

from dali_core import fn
from dali_core.errors import ArgumentValueError
from tests.cuda.programs.image_codec.files import encoded
from tests.cuda.programs.pipeline_streams.pipelines import made

try:
    made(lambda: [fn.decoders.image(encoded(), device="mixed")])
except ArgumentValueError as error:
    assert "DALI_CORE_GPU_DECODER must be 0 or 1" in str(error)
else:
    raise AssertionError
