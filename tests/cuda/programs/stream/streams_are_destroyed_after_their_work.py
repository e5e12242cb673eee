"""Streams are destroyed after their work."""

import ctypes

from dali_core import cuda
from dali_core._cuda import memory
from tests.cuda.leaks import expect_nothing_left
from tests.cuda.simulated_driver import control

expect_nothing_left()
stream = cuda.Stream(0)
block = memory.Buffer(stream, 100)
given = (ctypes.c_char * 100)(*b"x" * 100)
result = (ctypes.c_char * 100)()
control.set_delay(0.03)
memory.copy_pointers(block.pointer, ctypes.addressof(given), 100, stream)
memory.copy_pointers(ctypes.addressof(result), block.pointer, 100, stream)
event = stream.record()
# The block still has it.
del stream
assert control.live()["streams"] == 1
del block
assert control.live()["streams"] == 0
event.synchronize()
assert result.raw == given.raw
