"""Devices, contexts and the stack of a thread. Two devices."""

import os
import threading

from cuda.bindings import driver

from tests.cuda.calls import done, error
from tests.cuda.simulated_driver import control

# Nothing works before cuInit.
assert error(driver.cuDeviceGetCount()) == "NOT_INITIALIZED"
assert error(driver.cuInit(1)) == "INVALID_VALUE"
done(driver.cuInit(0))
assert done(driver.cuDriverGetVersion()) >= 12090

# Devices.
assert done(driver.cuDeviceGetCount()) == 2
assert error(driver.cuDeviceGet(2)) == "INVALID_DEVICE"
first, second = (done(driver.cuDeviceGet(number)) for number in range(2))
Attribute = driver.CUdevice_attribute
major = done(
    driver.cuDeviceGetAttribute(Attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, first)
)
minor = done(
    driver.cuDeviceGetAttribute(Attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, first)
)
assert (major, minor) == (8, 6)
pools = Attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED
assert done(driver.cuDeviceGetAttribute(pools, first)) == 1
assert done(driver.cuDeviceGetName(64, first)).partition(b"\0")[0] == b"Simulated device"
assert done(driver.cuDeviceGetUuid(first)).bytes != done(driver.cuDeviceGetUuid(second)).bytes
assert done(driver.cuDeviceTotalMem(first)) == 1 << 30
assert done(driver.cuDeviceCanAccessPeer(first, second)) == 1

# Names of errors.
code = driver.CUresult.CUDA_ERROR_LAUNCH_FAILED
assert done(driver.cuGetErrorName(code)) == b"CUDA_ERROR_LAUNCH_FAILED"
assert done(driver.cuGetErrorString(code))

# Primary contexts.
assert error(driver.cuMemAlloc(16)) == "INVALID_CONTEXT"
assert done(driver.cuDevicePrimaryCtxGetState(first)) == (0, 0)
context = done(driver.cuDevicePrimaryCtxRetain(first))
assert done(driver.cuDevicePrimaryCtxRetain(first)) == context
assert control.live()["primary_context_retains"] == 2
other = done(driver.cuDevicePrimaryCtxRetain(second))
assert done(driver.cuDevicePrimaryCtxGetState(second)) == (0, 1)

# The stack of a thread.
assert int(done(driver.cuCtxGetCurrent())) == 0
done(driver.cuCtxPushCurrent(context))
done(driver.cuCtxPushCurrent(other))
assert int(done(driver.cuCtxGetDevice())) == 1
done(driver.cuCtxSetCurrent(context))  # in the place of the other
assert int(done(driver.cuCtxGetDevice())) == 0
assert done(driver.cuCtxPopCurrent()) == context
assert done(driver.cuCtxGetCurrent()) == context
seen = []
thread = threading.Thread(target=lambda: seen.append(int(done(driver.cuCtxGetCurrent()))))
thread.start()
thread.join()
assert seen == [0]
assert done(driver.cuCtxGetStreamPriorityRange()) == (0, -5)

# Streams and what is in them belong to a context.
done(driver.cuCtxSetCurrent(other))
stream = done(driver.cuStreamCreateWithPriority(1, -9))
assert done(driver.cuStreamGetPriority(stream)) == -5
assert done(driver.cuStreamGetFlags(stream)) == 1
assert done(driver.cuStreamGetCtx(stream)) == other
assert int(done(driver.cuStreamGetDevice(stream))) == 1
done(driver.cuCtxSetCurrent(context))
event = done(driver.cuEventCreate(0))
assert error(driver.cuEventRecord(event, stream)) == "INVALID_HANDLE"
assert error(driver.cuEventQuery(driver.CUevent(int(stream)))) == "INVALID_HANDLE"
assert error(driver.cuCtxSetCurrent(driver.CUcontext(1))) == "INVALID_CONTEXT"

# Another thread has to make a context current before it uses any of them.
codes = []


def use() -> None:
    codes.append(error(driver.cuStreamSynchronize(stream)))
    codes.append(error(driver.cuEventRecord(event, 0)))
    codes.append(error(driver.cuEventQuery(event)))
    codes.append(error(driver.cuEventDestroy(event)))


thread = threading.Thread(target=use)
thread.start()
thread.join()
assert codes == ["INVALID_CONTEXT"] * 2 + ["CUDA_SUCCESS"] * 2

# A child process has no driver.
child = os.fork()
if child == 0:
    os._exit(int(driver.cuCtxSynchronize()[0]))
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3, "NOT_INITIALIZED"

# The last release frees everything.
done(driver.cuMemAlloc(1000))
assert control.live()["bytes"] == 1000
for device in (first, first, second):
    done(driver.cuDevicePrimaryCtxRelease(device))
assert set(control.live().values()) == {0}
assert error(driver.cuDevicePrimaryCtxRelease(first)) == "INVALID_CONTEXT"
assert error(driver.cuMemAlloc(16)) == "CONTEXT_IS_DESTROYED"
assert error(driver.cuStreamQuery(stream)) == "INVALID_HANDLE"
