"""Streams outlive their buffers."""

import gc

from dali_core import cuda
from dali_core._cuda import memory
from tests.cuda.leaks import expect_nothing_left
from tests.cuda.simulated_driver import control

expect_nothing_left()
own = cuda.Stream(0)
block = memory.Buffer(own, 100)
other = cuda.Stream(0)
# By its handle first: the object that keeps it alive counts, whichever comes first.
block.record_stream(cuda.Stream.wrap(other.handle, 0))
block.record_stream(other)
block.record_stream(cuda.Stream.wrap(other.handle, 0))
streams = control.live()["streams"]
del other
assert control.live()["streams"] == streams
del block
assert control.live()["streams"] == streams - 1
assert control.device_wide().get("cuCtxSynchronize", 0) == 0
own.synchronize()
assert control.live()["allocations"] == 0


# So do objects of other libraries.
class Theirs:
    def __init__(self):
        self.own = cuda.Stream(0)

    def __cuda_stream__(self):
        return (0, self.own.handle)


block = memory.Buffer(own, 100)
block.record_stream(cuda.Stream.wrap(Theirs(), 0))
gc.collect()
assert control.live()["streams"] == streams
del block
gc.collect()
assert control.live()["streams"] == streams - 1
block = memory.Buffer(cuda.Stream.wrap(Theirs(), 0), 100)
gc.collect()
assert control.live()["streams"] == streams
del block
gc.collect()
assert control.live()["allocations"] == 0
