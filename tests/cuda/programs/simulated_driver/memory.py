"""Memory, copies and fills, and their bounds. Two devices."""

import ctypes

import numpy
from cuda.bindings import driver

from tests.cuda.calls import copy_in, copy_out, done, error, pinned, use_device
from tests.cuda.simulated_driver import control

other = use_device(1)
far = done(driver.cuMemAlloc(64))
context = use_device(0)

# New memory is not zero, and freed memory is overwritten.
pointer = done(driver.cuMemAlloc(64))
assert set(copy_out(pointer, 64, "u1")) == {0xCD}
numbers = numpy.arange(16, dtype="i4")
copy_in(pointer, numbers)
assert (copy_out(pointer, 16, "i4") == numbers).all()
assert int(pointer) % 256 == 0
done(driver.cuMemFree(pointer))
assert set((ctypes.c_ubyte * 64).from_address(int(pointer))) == {0xDD}
assert error(driver.cuMemFree(pointer)) == "INVALID_VALUE"
assert done(driver.cuMemFree(0)) == ()

# Bounds.
pointer = done(driver.cuMemAlloc(64))
data = numbers.ctypes.data
assert error(driver.cuMemcpyHtoD(pointer, data, 65)) == "INVALID_VALUE"
assert error(driver.cuMemcpyHtoD(int(pointer) + 60, data, 8)) == "INVALID_VALUE"
assert error(driver.cuMemcpyHtoD(0, data, 8)) == "INVALID_VALUE"
assert error(driver.cuMemcpyHtoD(data, int(pointer), 8)) == "INVALID_VALUE"
assert error(driver.cuMemcpyDtoH(data, int(pointer) + 64, 1)) == "INVALID_VALUE"
assert error(driver.cuMemsetD8(pointer, 0, 65)) == "INVALID_VALUE"
assert error(driver.cuMemsetD32(int(pointer) + 2, 0, 1)) == "INVALID_VALUE"
assert error(driver.cuMemFree(int(pointer) + 8)) == "INVALID_VALUE"
assert error(driver.cuMemAlloc(0)) == "INVALID_VALUE"
begin, size = done(driver.cuMemGetAddressRange(int(pointer) + 8))
assert (int(begin), size) == (int(pointer), 64)

# Fills, and copies on a device and between devices.
done(driver.cuMemsetD32(pointer, 7, 8))
done(driver.cuMemsetD8(int(pointer) + 32, 1, 32))
assert list(copy_out(pointer, 16, "i4")) == [7] * 8 + [0x01010101] * 8
near = done(driver.cuMemAlloc(64))
done(driver.cuMemcpyDtoD(near, pointer, 64))
assert copy_out(near, 16, "i4")[0] == 7
done(driver.cuMemcpyPeer(far, other, near, context, 64))
assert error(driver.cuMemcpyPeer(far, context, near, context, 64)) == "INVALID_VALUE"
done(driver.cuMemcpy(near, far, 64))
assert error(driver.cuMemcpyDtoH(data, far, 64)) == "INVALID_VALUE", "memory of another device"
done(driver.cuCtxEnablePeerAccess(other, 0))
assert error(driver.cuCtxEnablePeerAccess(other, 0)) == "PEER_ACCESS_ALREADY_ENABLED"
done(driver.cuMemcpyDtoH(data, far, 64))
assert numbers[0] == 7

# Pointer attributes.
Kind = driver.CUpointer_attribute
about = driver.cuPointerGetAttribute
locked = pinned(16, "i4")
assert int(done(about(Kind.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, far))) == 2
assert done(about(Kind.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, far)) == 1
assert int(done(about(Kind.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, locked.ctypes.data))) == 1
assert error(about(Kind.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, data)) == "INVALID_VALUE"
kinds = [Kind.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, Kind.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL]
kind, ordinal = done(driver.cuPointerGetAttributes(2, kinds, data))
assert (int(kind), ordinal) == (0, -2), "memory that the driver does not know"

# Pinned memory, allocated or registered.
own = numpy.zeros(1024, "i4")
done(driver.cuMemHostRegister(own.ctypes.data, own.nbytes, 0))
again = driver.cuMemHostRegister(own.ctypes.data + 8, 8, 0)
assert error(again) == "HOST_MEMORY_ALREADY_REGISTERED"
assert int(done(driver.cuMemHostGetDevicePointer(own.ctypes.data, 0))) == own.ctypes.data
done(driver.cuMemHostUnregister(own.ctypes.data))
assert error(driver.cuMemHostUnregister(own.ctypes.data)) == "HOST_MEMORY_NOT_REGISTERED"
assert error(driver.cuMemFreeHost(own.ctypes.data)) == "INVALID_VALUE"
assert control.live()["host_allocations"] == 1
done(driver.cuMemFreeHost(locked.ctypes.data))

# The limit of a device's memory.
available, total = done(driver.cuMemGetInfo())
assert (available, total) == ((1 << 30) - 128, 1 << 30)
control.set_memory_limit(1000)
assert done(driver.cuDeviceTotalMem(0)) == 1000
assert error(driver.cuMemAlloc(873)) == "OUT_OF_MEMORY"
last = done(driver.cuMemAlloc(872))
assert error(driver.cuMemAlloc(1)) == "OUT_OF_MEMORY"
done(driver.cuMemFree(last))
done(driver.cuMemFree(done(driver.cuMemAlloc(872))))

for one in (pointer, near, far):
    done(driver.cuMemFree(one))
live = control.live()
assert (live["allocations"], live["bytes"], live["host_bytes"]) == (0, 0, 0)
