"""Out of device memory."""

from dali_core import cuda, errors
from dali_core._cuda import memory
from tests.cuda.leaks import expect_nothing_left
from tests.cuda.simulated_driver import control

MIB = 1 << 20
expect_nothing_left()
stream, other, busy = (cuda.Stream(0) for _ in range(3))
block = memory.Buffer(stream, 40 * MIB)
kept = memory.Buffer(busy, 4 * MIB)


def expect_shortage(size):
    try:
        memory.Buffer(stream, size)
    except errors.OutOfDeviceMemoryError as error:
        assert isinstance(error, MemoryError)
        assert error.status == "CUDA_ERROR_OUT_OF_MEMORY"
        return str(error)
    raise AssertionError


message = expect_shortage(30 * MIB)
assert message.startswith(
    f"CUDA device 0: {30 * MIB} bytes of memory must be left (got {44 * MIB} bytes in use here, "
), message
assert f" of {64 * MIB} bytes free on the device" in message
assert "Use smaller batches" in message
assert cuda.memory_stats()["used_bytes"] == 44 * MIB

# What is idle in the pool goes first,
del block
stream.synchronize()
block = memory.Buffer(stream, 56 * MIB)
# then what is on its way back, in the streams that it comes from, and in no other.
control.set_delay(0.1, stream.handle)
with control.held(busy.handle):
    small = memory.Buffer(stream, 1000)
    memory.copy_pointers(small.pointer, small.pointer + 500, 500, stream)
    memory.copy_pointers(kept.pointer, kept.pointer + 500, 500, busy)
    del block
    block = memory.Buffer(other, 56 * MIB)
    # Also if the stream has gone.
    del block
    memory.copy_pointers(small.pointer, small.pointer + 500, 500, stream)
    block = memory.Buffer(stream, 56 * MIB)
    memory.copy_pointers(small.pointer, small.pointer + 500, 500, stream)
    del block, small, stream
    block = memory.Buffer(other, 58 * MIB)
    assert not busy.is_idle()
assert control.counts().get("cuCtxSynchronize", 0) == 0
stream = other
expect_shortage(1 << 50)
memory.Buffer(other, MIB)
busy.synchronize()
