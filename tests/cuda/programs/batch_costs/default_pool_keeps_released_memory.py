"""Default pool keeps released memory."""

from cuda.bindings import driver

from dali_core import cuda
from dali_core._cuda import memory
from tests.cuda.calls import done, use_device

use_device(0)
pool = done(driver.cuDeviceGetDefaultMemPool(0))
threshold = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
reserved = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT
stream = cuda.Stream(0)


def is_kept() -> bool:
    block = done(driver.cuMemAllocAsync(1 << 20, stream.handle))
    done(driver.cuMemFreeAsync(block, stream.handle))
    stream.synchronize()
    return int(done(driver.cuMemPoolGetAttribute(pool, reserved))) > 0


assert not is_kept()


class Other:
    def allocate(self, nbytes, stream_handle):
        raise AssertionError

    def deallocate(self, pointer, nbytes, stream_handle):
        raise AssertionError


cuda.set_allocator(Other())
memory.retain_default_pool(0)
assert not is_kept(), "memory is to be shared with another library"
cuda.set_allocator(None)
for _ in range(2):
    memory.retain_default_pool(0)
    assert is_kept()
cuda.release_unused_memory(0)
assert int(done(driver.cuMemPoolGetAttribute(pool, reserved))) == 0
