"""Pools of stream-ordered memory, with little memory. Two devices."""

from cuda.bindings import driver

from tests.cuda.calls import copy_out, done, error, use_device
from tests.cuda.simulated_driver import control

PAGE = 2 << 20
Attribute = driver.CUmemPool_attribute


def state(of) -> tuple[int, int, int, int]:
    names = ("RESERVED_MEM_CURRENT", "RESERVED_MEM_HIGH", "USED_MEM_CURRENT", "USED_MEM_HIGH")
    return tuple(
        int(done(driver.cuMemPoolGetAttribute(of, getattr(Attribute, f"CU_MEMPOOL_ATTR_{name}"))))
        for name in names
    )


def set_threshold(of, size: int) -> None:
    name = Attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
    done(driver.cuMemPoolSetAttribute(of, name, driver.cuuint64_t(size)))


use_device(0)
stream, second = (done(driver.cuStreamCreate(1)) for _ in range(2))
pool = done(driver.cuDeviceGetMemPool(0))
assert pool == done(driver.cuDeviceGetDefaultMemPool(0))

# Unused memory is released when the host synchronizes, except up to the threshold.
one = done(driver.cuMemAllocAsync(PAGE + 1, stream))
assert state(pool) == (2 * PAGE, 2 * PAGE, PAGE + 512, PAGE + 512)
done(driver.cuMemFreeAsync(one, stream))
assert error(driver.cuMemFreeAsync(one, stream)) == "INVALID_VALUE"
done(driver.cuStreamSynchronize(stream))
assert state(pool) == (0, 2 * PAGE, 0, PAGE + 512)
set_threshold(pool, 2**64 - 1)
one = done(driver.cuMemAllocAsync(3 * PAGE, stream))
done(driver.cuMemFreeAsync(one, stream))
done(driver.cuStreamSynchronize(stream))
assert state(pool)[0] == 3 * PAGE
assert done(driver.cuMemGetInfo())[0] == done(driver.cuDeviceTotalMem(0)) - 3 * PAGE
done(driver.cuMemPoolTrimTo(pool, PAGE))
assert state(pool)[0] == PAGE
high = Attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH
done(driver.cuMemPoolSetAttribute(pool, high, driver.cuuint64_t(0)))
assert state(pool)[1] == PAGE

# A stream reuses memory that it freed itself, before the free is executed.
control.set_memory_limit(4 * PAGE)
with control.held(stream):
    one = done(driver.cuMemAllocAsync(3 * PAGE, stream))
    done(driver.cuMemsetD8Async(one, 1, 16, stream))
    done(driver.cuMemFreeAsync(one, stream))
    two = done(driver.cuMemAllocAsync(3 * PAGE, stream))
    assert state(pool)[0] == 3 * PAGE
    # Another one does so if no other memory is left, and then waits for the first.
    done(driver.cuMemsetD8Async(two, 2, 16, stream))
    done(driver.cuMemFreeAsync(two, stream))
    three = done(driver.cuMemAllocAsync(4 * PAGE, second))
    done(driver.cuMemsetD8Async(three, 3, 16, second))
    assert error(driver.cuStreamQuery(second)) == "NOT_READY"
done(driver.cuStreamSynchronize(second))
assert done(driver.cuStreamQuery(stream)) == ()
assert set(copy_out(three, 16, "u1")) == {3}

# An allocation that fails takes nothing of what is on its way back.
done(driver.cuMemFreeAsync(three, second))
with control.held(stream):
    three = done(driver.cuMemAllocAsync(4 * PAGE, stream))
    done(driver.cuMemFreeAsync(three, stream))
    assert error(driver.cuMemAllocAsync(5 * PAGE, second)) == "OUT_OF_MEMORY"
    three = done(driver.cuMemAllocAsync(4 * PAGE, second))
done(driver.cuStreamSynchronize(second))
assert state(pool)[0] == 4 * PAGE

# Out of memory: nothing is leaked, and it works again once memory is available.
assert error(driver.cuMemAllocAsync(1, stream)) == "OUT_OF_MEMORY"
assert error(driver.cuMemAlloc(1)) == "OUT_OF_MEMORY"
done(driver.cuMemFreeAsync(three, second))
done(driver.cuStreamSynchronize(second))
assert error(driver.cuMemAlloc(PAGE)) == "OUT_OF_MEMORY", "the pool has it all"
done(driver.cuMemPoolTrimTo(pool, 0))
done(driver.cuMemFree(done(driver.cuMemAlloc(PAGE))))

# A custom pool.
properties = driver.CUmemPoolProps()
properties.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
properties.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
properties.location.id = 1
own = done(driver.cuMemPoolCreate(properties))
assert control.live()["pools"] == 1
assert error(driver.cuDeviceSetMemPool(0, own)) == "INVALID_VALUE"
one = done(driver.cuMemAllocFromPoolAsync(100, own, stream))
ordinal = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
assert done(driver.cuPointerGetAttribute(ordinal, one)) == 1
assert error(driver.cuMemsetD8Async(one, 0, 1, stream)) == "INVALID_VALUE", "no access"
access = driver.CUmemAccessDesc()
access.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
access.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
done(driver.cuMemPoolSetAccess(own, [access], 1))
done(driver.cuMemsetD8Async(one, 5, 1, stream))
done(driver.cuMemPoolDestroy(own))  # allocated memory is not affected
done(driver.cuStreamSynchronize(stream))
done(driver.cuMemFree(one))
assert error(driver.cuMemPoolDestroy(pool)) == "INVALID_VALUE", "the default one stays"
assert error(driver.cuMemPoolTrimTo(own, 0)) == "INVALID_VALUE"

for each in (stream, second):
    done(driver.cuStreamDestroy(each))
live = control.live()
assert (live["allocations"], live["streams"], live["pools"]) == (0, 0, 0)
assert done(driver.cuMemGetInfo())[0] == 4 * PAGE
