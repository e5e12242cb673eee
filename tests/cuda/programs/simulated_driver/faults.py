"""Calls that fail on demand, and sticky errors."""

import ctypes

import numpy
from cuda.bindings import driver

from tests.cuda.calls import done, error, kernel, launch, use_device
from tests.cuda.simulated_driver import control

POINTER, LONG, FLOAT = ctypes.c_void_p, ctypes.c_longlong, ctypes.c_float
TYPES = (POINTER, LONG, FLOAT)

# Any function can fail, for some calls; others succeed.
control.fail("cuInit", "CUDA_ERROR_NO_DEVICE")
assert error(driver.cuInit(0)) == "NO_DEVICE"
context = use_device(0)
control.fail("cuMemAlloc", "CUDA_ERROR_OUT_OF_MEMORY", after=1, times=2)
codes = [error(driver.cuMemAlloc(8)) for _ in range(4)]
assert codes == ["CUDA_SUCCESS", "OUT_OF_MEMORY", "OUT_OF_MEMORY", "CUDA_SUCCESS"]
assert (control.counts()["cuMemAlloc"], control.live()["allocations"]) == (4, 2)
control.fail("cuMemAlloc", "CUDA_ERROR_OUT_OF_MEMORY", times=100)
control.reset()
assert control.counts() == {}
pointer = done(driver.cuMemAlloc(8))
for name in sorted(
    control.functions() & {"cuStreamCreate", "cuEventRecord", "cuStreamSynchronize"}
):
    control.fail(name, "CUDA_ERROR_UNKNOWN")
    arguments = {"cuStreamCreate": (0,), "cuEventRecord": (0, 0), "cuStreamSynchronize": (0,)}[name]
    assert error(getattr(driver, name)(*arguments)) == "UNKNOWN"
for wrong in (("cuNothing", "CUDA_ERROR_UNKNOWN"), ("cuInit", "CUDA_ERROR_WRONG")):
    try:
        control.fail(*wrong)
    except ValueError as refused:
        message = str(refused)
    assert wrong[0] in message


def broken_everywhere(code: str) -> None:
    """Check that all calls in the context return the error until the device is reset."""
    for result in (
        *(driver.cuMemAlloc(8), driver.cuMemFree(pointer), driver.cuStreamSynchronize(stream)),
        *(driver.cuCtxSynchronize(), driver.cuStreamQuery(0), driver.cuEventCreate(0)),
        *(driver.cuMemsetD8Async(pointer, 0, 1, stream), driver.cuStreamDestroy(stream)),
    ):
        assert error(result) == code
    done(driver.cuCtxGetDevice())
    done(driver.cuDevicePrimaryCtxReset(0))
    assert set(control.live().values()) == {0}
    done(driver.cuDevicePrimaryCtxRetain(0))
    done(driver.cuCtxSynchronize())


def start() -> tuple[object, object, object]:
    """Create a stream, memory and a kernel in the context."""
    return (
        done(driver.cuStreamCreate(1)),
        done(driver.cuMemAlloc(8)),
        kernel("simulated_fill_float"),
    )


# The launch itself fails.
stream, pointer, fill = start()
control.fail("cuLaunchKernel", "CUDA_ERROR_LAUNCH_FAILED", sticky=True)
assert error(launch(fill, (pointer, 2, 1.0), TYPES, stream=stream)) == "LAUNCH_FAILED"
broken_everywhere("LAUNCH_FAILED")

# The launch succeeds, but the kernel fails when it is executed.
stream, pointer, fill = start()
control.fail("kernel", "CUDA_ERROR_ILLEGAL_INSTRUCTION", after=1)
with control.held(stream):
    for _ in range(2):
        done(launch(fill, (pointer, 2, 1.0), TYPES, stream=stream))
assert error(driver.cuStreamSynchronize(stream)) == "ILLEGAL_INSTRUCTION"
broken_everywhere("ILLEGAL_INSTRUCTION")
control.reset()

# A kernel gets host memory, or memory that was freed in the meantime.
host = numpy.zeros(2, "f4")
stream, pointer, fill = start()
done(launch(fill, (host.ctypes.data, 2, 1.0), TYPES, stream=stream))
assert error(driver.cuStreamSynchronize(stream)) == "ILLEGAL_ADDRESS"
assert set(host) == {0}
broken_everywhere("ILLEGAL_ADDRESS")
stream, pointer, fill = start()
other = done(driver.cuStreamCreate(1))
taken = done(driver.cuMemAllocAsync(8, other))
done(driver.cuStreamSynchronize(other))
with control.held(stream):
    done(launch(fill, (taken, 2, 1.0), TYPES, stream=stream))
    done(driver.cuMemFreeAsync(taken, other))
    done(driver.cuStreamSynchronize(other))
assert error(driver.cuStreamSynchronize(stream)) == "ILLEGAL_ADDRESS"
broken_everywhere("ILLEGAL_ADDRESS")
