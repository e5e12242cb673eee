"""Graph capture in another thread."""

from cuda.bindings import driver as bindings

from dali_core import cuda
from tests.cuda import small_pipeline
from tests.cuda.simulated_driver import control

for each in range(3):
    small_pipeline.expected(each)
with control.captured():
    pipeline = small_pipeline.make()
    for number in range(3):
        assert small_pipeline.is_right(pipeline.run(), number)
    pipeline.close()
    del pipeline
    cuda.release_unused_memory()
    # Only our calls are let through: those of the program are its own affair.
    mode = bindings.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    status, before = bindings.cuThreadExchangeStreamCaptureMode(mode)
    assert before == bindings.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
    bindings.cuThreadExchangeStreamCaptureMode(before)
assert not small_pipeline.left(), small_pipeline.left()
try:
    with control.captured():
        status, pointer = bindings.cuMemAlloc(8)
except AssertionError as error:
    assert status == bindings.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
    assert str(error) == "cuMemAlloc would have spoiled the capture"
else:
    raise RuntimeError("the simulated driver allows everything")
