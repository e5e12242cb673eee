"""The order of work in streams, each item of which takes a while. Two devices."""

import ctypes
import time

import numpy
from cuda.bindings import driver

from tests.cuda.calls import copy_out, done, error, page_locked, use_device
from tests.cuda.simulated_driver import control

DELAY = 0.03
other = use_device(1)
use_device(0)
first, second, far_stream = (done(driver.cuStreamCreate(1)) for _ in range(3))
blocking = done(driver.cuStreamCreate(0))
event = done(driver.cuEventCreate(0))
pointer = done(driver.cuMemAlloc(16))
control.set_delay(DELAY)

# Nothing happens before the stream gets there.
done(driver.cuMemsetD8Async(pointer, 1, 16, first))
assert error(driver.cuStreamQuery(first)) == "NOT_READY"
done(driver.cuStreamSynchronize(first))
assert done(driver.cuStreamQuery(first)) == ()

# Without a wait, another stream is too early; with it, it is not.
locked = page_locked(16, "u1")
for value, waits in ((2, False), (3, True)):
    before = value - 1
    done(driver.cuMemsetD8Async(pointer, value, 16, first))
    done(driver.cuEventRecord(event, first))
    assert error(driver.cuEventQuery(event)) == "NOT_READY"
    control.set_delay(DELAY / 3, int(second))
    if waits:
        done(driver.cuStreamWaitEvent(second, event, 0))
    done(driver.cuMemcpyDtoHAsync(locked.ctypes.data, pointer, 16, second))
    done(driver.cuStreamSynchronize(second))
    assert set(locked) == {value if waits else before}
    done(driver.cuEventSynchronize(event))
    assert done(driver.cuEventQuery(event)) == ()

# The host, too, has to wait.
done(driver.cuMemsetD8Async(pointer, 4, 16, first))
done(driver.cuMemcpyDtoHAsync(locked.ctypes.data, pointer, 16, first))
assert set(locked) == {3}
done(driver.cuStreamSynchronize(first))
assert set(locked) == {4}

# Page-locked memory is read late, other memory of the host at once.
ordinary = numpy.full(8, 5, "u1")
locked[:] = 5
done(driver.cuMemcpyHtoDAsync(pointer, ordinary.ctypes.data, 8, first))
done(driver.cuMemcpyHtoDAsync(int(pointer) + 8, locked.ctypes.data, 8, first))
ordinary[:] = locked[:] = 6
done(driver.cuStreamSynchronize(first))
assert list(copy_out(pointer, 16, "u1")) == [5] * 8 + [6] * 8
assert control.pageable() == {"cuMemcpyHtoDAsync": 1}

# The legacy stream waits for blocking streams and they for it, but not those that are not.
for stream, early in ((first, True), (blocking, False)):
    done(driver.cuMemsetD8Async(pointer, 7, 16, stream))
    control.set_delay(0, 1)  # the legacy stream
    done(driver.cuMemcpyDtoH(ordinary.ctypes.data, pointer, 8))
    assert (7 not in ordinary) == early
    done(driver.cuStreamSynchronize(stream))
    done(driver.cuMemsetD8(pointer, 0, 16))
control.set_delay(DELAY, 1)
control.set_delay(0, int(blocking))
done(driver.cuMemsetD8Async(pointer, 8, 16, 0))
done(driver.cuMemcpyDtoHAsync(locked.ctypes.data, pointer, 16, blocking))
done(driver.cuStreamSynchronize(blocking))
assert set(locked) == {8}

# What is new in a pool is new when the stream gets there, and freed when it gets there.
control.set_delay(DELAY, int(first))
done(driver.cuMemsetD8Async(pointer, 0, 16, first))
early = done(driver.cuMemAllocAsync(16, first))
done(driver.cuMemsetD8Async(early, 9, 16, second))
done(driver.cuStreamSynchronize(second))
done(driver.cuStreamSynchronize(first))
assert set(copy_out(early, 16, "u1")) == {0xCD}, "written before it was there"
seen = (ctypes.c_ubyte * 16).from_address(int(early))
done(driver.cuMemsetD8Async(early, 1, 16, first))
done(driver.cuMemFreeAsync(early, first))
assert error(driver.cuMemsetD8Async(early, 1, 16, first)) == "INVALID_VALUE"
assert set(seen) == {0xCD}
done(driver.cuStreamSynchronize(first))
assert set(seen) == {0xDD}

# Functions of the host have their turn, and must not call the driver.
calls = []
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
function = CALLBACK(lambda _: calls.append((set(seen), error(driver.cuCtxSynchronize()))))
done(driver.cuLaunchHostFunc(first, ctypes.cast(function, ctypes.c_void_p).value, 0))
assert calls == []
done(driver.cuStreamSynchronize(first))
assert calls == [({0xDD}, "NOT_PERMITTED")]

# Events measure time, unless they must not, and wait across devices.
start, end = (done(driver.cuEventCreate(0)) for _ in range(2))
assert error(driver.cuEventElapsedTime(start, end)) == "INVALID_HANDLE"
done(driver.cuEventRecord(start, first))
done(driver.cuMemsetD8Async(pointer, 0, 16, first))
done(driver.cuEventRecord(end, first))
assert error(driver.cuEventElapsedTime(start, end)) == "NOT_READY"
done(driver.cuEventSynchronize(end))
assert 1000 * DELAY <= done(driver.cuEventElapsedTime(start, end)) < 10_000
untimed = done(driver.cuEventCreate(2))
done(driver.cuEventRecord(untimed, first))
assert error(driver.cuEventElapsedTime(start, untimed)) == "INVALID_HANDLE"
done(driver.cuMemsetD8Async(pointer, 10, 16, first))
done(driver.cuEventRecord(untimed, first))
done(driver.cuCtxPushCurrent(other))
elsewhere = done(driver.cuStreamCreate(1))
done(driver.cuStreamWaitEvent(elsewhere, untimed, 0))
done(driver.cuStreamSynchronize(elsewhere))
assert done(driver.cuEventQuery(untimed)) == ()
done(driver.cuStreamDestroy(elsewhere))
done(driver.cuCtxPopCurrent())

# A destroyed stream's work goes on, and cuCtxSynchronize waits for it.
done(driver.cuMemsetD8Async(pointer, 11, 16, second))
done(driver.cuStreamDestroy(second))
assert error(driver.cuStreamQuery(second)) == "INVALID_HANDLE"
begin = time.monotonic()
done(driver.cuCtxSynchronize())
assert set(copy_out(pointer, 16, "u1")) == {11}

# What waited for the whole device is counted.
control.reset()
done(driver.cuMemsetD8Async(pointer, 0, 16, first))
done(driver.cuStreamSynchronize(first))
assert control.device_wide() == {}
done(driver.cuMemFree(pointer))
done(driver.cuCtxSynchronize())
done(driver.cuStreamSynchronize(0))
expected = {"cuCtxSynchronize": 1, "cuMemFree": 1, "cuStreamSynchronize": 1}
assert control.device_wide() == expected
assert control.counts() == expected | {"cuMemsetD8Async": 1, "cuStreamSynchronize": 2}
