"""First device failure is reported once."""

from dali_core import cuda, errors
from dali_core._cuda import memory
from tests.cuda.simulated_driver import control


def message_of(use):
    try:
        use()
    except errors.CudaError as error:
        return str(error), error.status
    raise AssertionError


stream, other = cuda.Stream(0), cuda.Stream(1)
control.fail("cuStreamSynchronize", "CUDA_ERROR_ILLEGAL_ADDRESS", sticky=True)
first, status = message_of(stream.synchronize)
assert status == "CUDA_ERROR_ILLEGAL_ADDRESS"
assert first.startswith("CUDA device 0: waiting for a stream must succeed (got CUDA_ERROR")
assert "compute-sanitizer" in first
for use in (
    stream.synchronize,
    stream.record,
    lambda: cuda.Stream(0),
    lambda: memory.Buffer(stream, 1),
    cuda.release_unused_memory,
):
    later, status = message_of(use)
    assert later.startswith("CUDA device 0: work must not follow an error"), later
    assert first in later
# The others are well.
other.synchronize()
