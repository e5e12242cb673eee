"""Allocators propagate keyboard interrupt."""

import signal

from cuda.bindings import driver as bindings

from dali_core import cuda
from dali_core._cuda import memory


class Allocator:
    def allocate(self, nbytes, stream_handle):
        return int(bindings.cuMemAllocAsync(nbytes, stream_handle)[1])

    def deallocate(self, pointer, nbytes, stream_handle):
        bindings.cuMemFreeAsync(pointer, stream_handle)
        signal.raise_signal(signal.SIGINT)


signal.signal(signal.SIGINT, signal.default_int_handler)
stream = cuda.Stream(0)
cuda.set_allocator(Allocator())
block = memory.Buffer(stream, 1000)
cuda.set_allocator(None)
try:
    del block
    stream.synchronize()
    while True:
        pass
except KeyboardInterrupt:
    print("interrupted")
