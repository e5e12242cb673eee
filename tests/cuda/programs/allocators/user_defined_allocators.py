"""User defined allocators."""

import threading

from cuda.bindings import driver as bindings

from dali_core import cuda, errors
from dali_core._cuda import driver, memory
from tests.cuda.leaks import expect_nothing_left
from tests.cuda.simulated_driver import control


class Allocator:
    def __init__(self):
        self.live = {}
        self.devices = set()
        self.calls = 0

    def allocate(self, nbytes, stream_handle):
        self.calls += 1
        status, pointer = bindings.cuMemAllocAsync(nbytes, stream_handle)
        if int(status):
            raise RuntimeError(f"no {nbytes} bytes left")
        self.devices.add(driver.current_device())
        self.live[int(pointer)] = nbytes, stream_handle
        return int(pointer)

    def deallocate(self, pointer, nbytes, stream_handle):
        assert self.live.pop(pointer) == (nbytes, stream_handle)
        bindings.cuMemFreeAsync(pointer, stream_handle)


expect_nothing_left(2)
streams = [cuda.Stream(0), cuda.Stream(1)]
ours = memory.Buffer(streams[1], 10)
theirs, special = Allocator(), Allocator()
cuda.set_allocator(theirs)
cuda.set_allocator(special, device_id=1)
blocks = [memory.Buffer(stream, 100) for stream in streams]
empty = memory.Buffer(streams[0], 0)
assert list(theirs.live.values()) == [(100, streams[0].handle), (1, streams[0].handle)]
assert list(special.live.values()) == [(100, streams[1].handle)]
assert (theirs.devices, special.devices) == ({0}, {1})
assert cuda.memory_stats(1)["used_bytes"] == 110

# Consumers count here, too.
slow = cuda.Stream(0)
control.set_delay(0.05, slow.handle)
memory.copy_pointers(blocks[0].pointer, blocks[0].pointer + 50, 50, slow)
blocks[0].record_stream(slow)

# Blocks go back to where they are from, from any thread.
cuda.set_allocator(None)
cuda.set_allocator(None, device_id=1)
thread = threading.Thread(target=blocks.clear)
thread.start()
thread.join()
assert special.live == {}
del empty, ours
assert theirs.live == {}
streams[0].synchronize()
assert slow.is_idle()
calls = theirs.calls
memory.Buffer(streams[0], 100)
assert theirs.calls == calls

cuda.set_allocator(theirs)
try:
    memory.Buffer(streams[0], 1 << 60)
except errors.OutOfDeviceMemoryError as error:
    assert isinstance(error.__cause__, RuntimeError)
    assert f"no {1 << 60} bytes left" in str(error)
else:
    raise AssertionError
# A second try, when everything has come back.
assert theirs.calls > calls + 1
memory.Buffer(streams[0], 100)
assert theirs.live == {}
cuda.set_allocator(None)
for wrong in (3, Allocator.allocate):
    try:
        cuda.set_allocator(wrong)
    except errors.ArgumentTypeError as error:
        assert "must have the methods allocate and deallocate" in str(error)
    else:
        raise AssertionError
