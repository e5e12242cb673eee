"""Pinned memory."""

from dali_core import cuda, errors
from dali_core._cuda import memory
from tests.cuda.leaks import expect_nothing_left
from tests.cuda.simulated_driver import control

expect_nothing_left(3)
stream = cuda.Stream(2)
memory.preallocate_host(5000)
# It is made for all devices, in the context of one that is in use.
assert control.live()["primary_context_retains"] == 3 + 1
assert cuda.memory_stats(2)["host_idle_bytes"] >= 5000
memory.preallocate_host(5000)
assert control.counts()["cuMemHostAlloc"] == 1

control.fail("cuMemHostAlloc", "CUDA_ERROR_OUT_OF_MEMORY", times=2)
try:
    memory.preallocate_host(1 << 20)
except errors.OutOfDeviceMemoryError as error:
    assert "the host must have 1048576 bytes of pinned memory left" in str(error)
else:
    raise AssertionError
control.fail("cuMemHostAlloc", "CUDA_ERROR_NOT_PERMITTED", times=2)
try:
    memory.preallocate_host(1 << 20)
except errors.CudaError as error:
    assert error.status == "CUDA_ERROR_NOT_PERMITTED"
else:
    raise AssertionError
memory.preallocate_host(1 << 20)
