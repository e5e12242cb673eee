"""Memory statistics."""

from dali_core import backend, cuda
from dali_core._cuda import memory
from tests.cuda.leaks import expect_nothing_left
from tests.cuda.simulated_driver import control

expect_nothing_left(2)
stream = cuda.Stream(1)
blocks = [memory.Buffer(stream, size) for size in (0, 0, 1, 1000, 1 << 20)]
assert len({block.pointer for block in blocks}) == 5
assert all(block.pointer % 256 == 0 and block.pointer for block in blocks)
assert [block.nbytes for block in blocks] == [0, 0, 1, 1000, 1 << 20]
stats = cuda.memory_stats(1)
assert stats["used_bytes"] == stats["used_high_bytes"] == 1001 + (1 << 20)
assert stats["reserved_bytes"] >= stats["used_bytes"]
assert cuda.memory_stats(0)["used_bytes"] == 0

# What is given back stays in the pool,
blocks.clear()
stream.synchronize()
after = cuda.memory_stats(1)
assert after["used_bytes"] == 0
assert after["used_high_bytes"] == stats["used_bytes"]
assert after["reserved_bytes"] == stats["reserved_bytes"]
# until that is asked to return it.
cuda.release_unused_memory(1)
assert cuda.memory_stats(1)["reserved_bytes"] == 0
assert cuda.memory_stats(1)["reserved_high_bytes"] == stats["reserved_bytes"]

backend.PreallocateDeviceMemory(3 << 20, 0)
assert cuda.memory_stats(0)["reserved_bytes"] >= 3 << 20
backend.PreallocatePinnedMemory(1 << 20)
assert cuda.memory_stats()["host_used_bytes"] == 0
assert cuda.memory_stats()["host_idle_bytes"] == 1 << 20
backend.ReleaseUnusedMemory()
assert cuda.memory_stats()["reserved_bytes"] == 0
assert cuda.memory_stats()["host_idle_bytes"] == 0
assert control.live()["host_allocations"] == 0
