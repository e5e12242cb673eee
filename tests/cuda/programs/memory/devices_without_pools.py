"""Devices without pools."""

import json
import sys

has_default_pool = json.loads(sys.argv[1])
import ctypes

from dali_core import cuda
from dali_core._cuda import memory
from tests.cuda.leaks import expect_nothing_left
from tests.cuda.simulated_driver import control

expect_nothing_left()
control.fail("cuMemPoolCreate", "CUDA_ERROR_NOT_SUPPORTED")
if not has_default_pool:
    control.fail("cuDeviceGetDefaultMemPool", "CUDA_ERROR_NOT_SUPPORTED")
stream, other = cuda.Stream(0), cuda.Stream(0)
control.set_delay(0.03, stream.handle)
given = (ctypes.c_char * 1000)(*b"x" * 1000)
result = (ctypes.c_char * 1000)()
for _ in range(3):
    block = memory.Buffer(stream, 1000)
    memory.copy_pointers(block.pointer, ctypes.addressof(given), 1000, stream)
    memory.copy_pointers(ctypes.addressof(result), block.pointer, 1000, stream)
    del block
    memory.Buffer(other, 1000)
    stream.synchronize()
    assert result.raw == given.raw
assert cuda.memory_stats()["used_bytes"] == 0
other.synchronize()
cuda.release_unused_memory()
assert control.live()["allocations"] == 0
assert (control.counts().get("cuMemAlloc", 0) == 0) == has_default_pool
assert control.live()["pools"] == 0

# Blocks that are on their way when a shortage comes are waited for.
if not has_default_pool:
    block = memory.Buffer(stream, 40 << 20)
    memory.copy_pointers(block.pointer, ctypes.addressof(given), 1000, stream)
    del block
    memory.Buffer(other, 40 << 20)
