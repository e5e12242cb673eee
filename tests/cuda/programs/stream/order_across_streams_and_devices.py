"""Order across streams and devices."""

import ctypes

from dali_core import cuda
from dali_core._cuda import memory
from tests.cuda.leaks import expect_nothing_left
from tests.cuda.simulated_driver import control

expect_nothing_left(2)
size = 1000
first, second, third = cuda.Stream(0), cuda.Stream(0), cuda.Stream(1)
blocks = [memory.Buffer(stream, size) for stream in (first, second, third)]
given = (ctypes.c_char * size)(*b"abc" * 300)
result = (ctypes.c_char * size)()
for stream in (first, second, third):
    stream.synchronize()
control.set_delay(0.05, first.handle)

with control.held(first.handle):
    memory.copy_pointers(blocks[0].pointer, ctypes.addressof(given), size, first)
    event = first.record()
    assert not first.is_idle()
    assert not event.is_done()
    second.wait(event)
    second.wait(second)
    memory.copy_pointers(blocks[1].pointer, blocks[0].pointer, size, second)
    third.wait(second)
    memory.copy_pointers(blocks[2].pointer, blocks[1].pointer, size, third)
memory.copy_pointers(ctypes.addressof(result), blocks[2].pointer, size, third)
third.synchronize()
assert event.is_done()
assert result.raw == given.raw
