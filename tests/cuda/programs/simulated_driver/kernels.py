"""Modules and launches. The device has compute capability 8.6."""

import ctypes

import numpy
from cuda.bindings import driver

from tests.cuda.calls import (
    copy_in,
    copy_out,
    done,
    error,
    image_of,
    kernel,
    launch,
    load,
    pinned,
    use_device,
)
from tests.cuda.simulated_driver import control

INT, LONG, FLOAT, POINTER = ctypes.c_int, ctypes.c_longlong, ctypes.c_float, ctypes.c_void_p
use_device(0)
stream = done(driver.cuStreamCreate(1))

# Images: the target has to match the device, and the kernel has to exist.
assert error(driver.cuModuleLoadData(b"no image at all")) == "INVALID_IMAGE"
assert error(driver.cuModuleLoadData(image_of("simulated_sum", target=90))) == "INVALID_PTX"
module = load("simulated_sum", "simulated_scale", "not_compiled")
assert error(driver.cuModuleGetFunction(module, b"simulated_su")) == "NOT_FOUND"
assert error(driver.cuModuleGetFunction(module, b"simulated_fill_float")) == "NOT_FOUND"
assert error(driver.cuModuleGetFunction(module, b"not_compiled")) == "NOT_FOUND"
total = done(driver.cuModuleGetFunction(module, b"simulated_sum"))
assert done(driver.cuModuleGetFunction(module, b"simulated_sum")) == total
threads = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
assert done(driver.cuFuncGetAttribute(threads, total)) == 1024
assert done(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(total, 256, 0)) == 8
fill = kernel("simulated_fill_float")
assert [done(driver.cuFuncGetParamInfo(fill, index)) for index in range(3)] == [
    *((0, 8), (8, 8), (16, 4))
]
assert error(driver.cuFuncGetParamInfo(fill, 3)) == "INVALID_VALUE"

# A kernel defined by a macro, in several blocks, the last of which is partial.
pointer = done(driver.cuMemAllocAsync(4 * 1000, stream))
types = (POINTER, LONG, FLOAT)
done(launch(fill, (pointer, 1000, 1.5), types, grid=4, stream=stream))
done(driver.cuStreamSynchronize(stream))
assert set(copy_out(pointer, 1000, "f4")) == {1.5}


# Arguments are copied immediately: a structure by value, out of a buffer, or through
# cuLaunchKernelEx.
class Scale(ctypes.Structure):
    _fields_ = [("factor", ctypes.c_float), ("offset", ctypes.c_double)]


scale = done(driver.cuModuleGetFunction(module, b"simulated_scale"))
assert done(driver.cuFuncGetParamInfo(scale, 3)) == (24, 16)
result = done(driver.cuMemAlloc(4 * 1000))
parameters = [
    *(ctypes.c_void_p(int(pointer)), ctypes.c_void_p(int(result)), ctypes.c_int(1000)),
    Scale(2.0, 0.25),
]
addresses = (ctypes.c_void_p * 4)(*(ctypes.addressof(one) for one in parameters))
with control.held(stream):
    done(driver.cuLaunchKernel(scale, 2, 1, 1, 64, 1, 1, 0, stream, ctypes.addressof(addresses), 0))
    parameters[3].factor = 0
done(driver.cuStreamSynchronize(stream))
assert set(copy_out(result, 1000, "f4")) == {3.25}
parameters[3].factor = 4
config = driver.CUlaunchConfig()
config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1
config.blockDimX = 32
config.hStream = stream
done(driver.cuLaunchKernelEx(config, scale, ctypes.addressof(addresses), 0))
done(driver.cuStreamSynchronize(stream))
assert set(copy_out(result, 1000, "f4")) == {6.25}
buffer = (ctypes.c_char * 40)()
for parameter, offset in zip(parameters, (0, 8, 16, 24), strict=True):
    ctypes.memmove(
        ctypes.addressof(buffer) + offset, ctypes.byref(parameter), ctypes.sizeof(parameter)
    )
size = ctypes.c_size_t(40)
extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(size), 0)
done(driver.cuLaunchKernel(scale, 1, 1, 1, 64, 1, 1, 0, stream, 0, ctypes.addressof(extra)))
done(driver.cuStreamSynchronize(stream))

# Barriers, static and dynamic shared memory, and atomic functions.
numbers = numpy.arange(3 * 128, dtype="i4")
values, sums, whole = (done(driver.cuMemAlloc(4 * count)) for count in (3 * 128, 3, 1))
copy_in(values, numbers)
done(driver.cuMemsetD32(whole, 0, 1))
arguments = (values, sums, whole), (POINTER,) * 3
done(launch(total, *arguments, grid=3, block=128, shared=4 * 128, stream=stream))
done(driver.cuStreamSynchronize(stream))
assert (copy_out(sums, 3, "i4") == numbers.reshape(3, 128).sum(1)).all()
assert copy_out(whole, 1, "i4") == numbers.sum()
warps = kernel("simulated_warp_sum")
done(launch(warps, (values, sums), (POINTER,) * 2, grid=3, block=128, stream=stream))
done(driver.cuStreamSynchronize(stream))
assert (copy_out(sums, 3, "i4") == numbers.reshape(3, 128).sum(1)).all()

# Pinned memory is accessible to a kernel.
locked = pinned(8, "f4")
done(launch(fill, (locked.ctypes.data, 8, 2.5), types, stream=stream))
done(driver.cuStreamSynchronize(stream))
assert set(locked) == {2.5}

# Invalid launches.
assert error(launch(fill, (pointer, 8, 1.0), types, block=1025)) == "INVALID_VALUE"
assert error(launch(fill, (pointer, 8, 1.0), types, grid=0)) == "INVALID_VALUE"
assert error(launch(fill, (pointer, 8, 1.0), types, shared=50_000)) == "INVALID_VALUE"
most = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
done(driver.cuFuncSetAttribute(fill, most, 60_000))
done(launch(fill, (pointer, 8, 1.0), types, shared=50_000))
done(driver.cuStreamSynchronize(0))

# Libraries, whose kernels refer to functions of the current context.
library = done(driver.cuLibraryLoadData(image_of("simulated_fill_byte"), [], [], 0, [], [], 0))
of_library = done(driver.cuLibraryGetKernel(library, b"simulated_fill_byte"))
function = done(driver.cuKernelGetFunction(of_library))
done(launch(function, (pointer, 4, 7), (POINTER, LONG, ctypes.c_ubyte), stream=stream))
done(driver.cuStreamSynchronize(stream))
assert set(copy_out(pointer, 4, "u1")) == {7}
done(driver.cuLibraryUnload(library))

done(driver.cuModuleUnload(module))
assert error(launch(scale, (), ())) == "INVALID_HANDLE"
assert error(driver.cuModuleGetFunction(module, b"simulated_sum")) == "INVALID_HANDLE"
