"""The order of work in streams. Two devices."""

import ctypes
import time

import numpy
from cuda.bindings import driver

from tests.cuda.calls import copy_out, done, error, pinned, use_device
from tests.cuda.simulated_driver import control

DELAY = 0.03
other = use_device(1)
use_device(0)
first, second = (done(driver.cuStreamCreate(1)) for _ in range(2))
blocking = done(driver.cuStreamCreate(0))
event = done(driver.cuEventCreate(0))
pointer = done(driver.cuMemAlloc(16))
locked = pinned(16, "u1")
ordinary = numpy.zeros(8, "u1")


def fill(value: int, stream: object) -> None:
    done(driver.cuMemsetD8Async(pointer, value, 16, stream))


def fetch(stream: object) -> None:
    done(driver.cuMemcpyDtoHAsync(locked.ctypes.data, pointer, 16, stream))


# Nothing happens before the stream executes it.
with control.held(first):
    fill(1, first)
    assert error(driver.cuStreamQuery(first)) == "NOT_READY"
done(driver.cuStreamSynchronize(first))
assert done(driver.cuStreamQuery(first)) == ()

# Without a wait, another stream reads too early; with it, it does not.
with control.held(first):
    fill(2, first)
    fetch(second)
    done(driver.cuStreamSynchronize(second))
    assert set(locked) == {1}
    done(driver.cuEventRecord(event, first))
    assert error(driver.cuEventQuery(event)) == "NOT_READY"
    done(driver.cuStreamWaitEvent(second, event, 0))
    fetch(second)
    assert error(driver.cuStreamQuery(second)) == "NOT_READY"
done(driver.cuStreamSynchronize(second))
assert set(locked) == {2}
done(driver.cuEventSynchronize(event))
assert done(driver.cuEventQuery(event)) == ()

# A delay comes before each piece of work.
control.set_delay(DELAY, first)
with control.held(first):
    fill(3, first)
    fetch(first)
    assert set(locked) == {2}
    begin = time.monotonic()
done(driver.cuStreamSynchronize(first))
assert time.monotonic() - begin >= 2 * DELAY
assert set(locked) == {3}
control.set_delay(-1, first)

# Pinned memory is read in stream order, pageable memory immediately.
ordinary[:] = locked[:] = 5
with control.held(first):
    done(driver.cuMemcpyHtoDAsync(pointer, ordinary.ctypes.data, 8, first))
    done(driver.cuMemcpyHtoDAsync(int(pointer) + 8, locked.ctypes.data, 8, first))
    ordinary[:] = locked[:] = 6
done(driver.cuStreamSynchronize(first))
assert list(copy_out(pointer, 16, "u1")) == [5] * 8 + [6] * 8
assert control.pageable() == {"cuMemcpyHtoDAsync": 1}

# The legacy stream synchronizes with blocking streams, but not with non-blocking ones.
with control.held(first):
    fill(7, first)
    assert 7 not in copy_out(pointer, 16, "u1")
done(driver.cuStreamSynchronize(first))
control.set_delay(DELAY, blocking)
with control.held(blocking):
    fill(8, blocking)
    assert error(driver.cuStreamQuery(0)) == "NOT_READY"
assert set(copy_out(pointer, 16, "u1")) == {8}
control.set_delay(0, blocking)
control.set_delay(DELAY, 1)
fill(9, 0)
fetch(blocking)
done(driver.cuStreamSynchronize(blocking))
assert set(locked) == {9}
control.set_delay(0, 1)

# Memory of a pool is allocated and freed in stream order.
with control.held(first):
    early = done(driver.cuMemAllocAsync(16, first))
    done(driver.cuMemsetD8Async(early, 9, 16, second))
    done(driver.cuStreamSynchronize(second))
done(driver.cuStreamSynchronize(first))
assert set(copy_out(early, 16, "u1")) == {0xCD}, "written before it was there"
seen = (ctypes.c_ubyte * 16).from_address(int(early))
with control.held(first):
    done(driver.cuMemFreeAsync(early, first))
    assert error(driver.cuMemsetD8Async(early, 1, 16, first)) == "INVALID_VALUE"
    assert set(seen) == {0xCD}
done(driver.cuStreamSynchronize(first))
assert set(seen) == {0xDD}

# Host functions are executed in stream order, and must not call the driver.
calls = []
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
function = CALLBACK(lambda _: calls.append(error(driver.cuCtxSynchronize())))
with control.held(first):
    done(driver.cuLaunchHostFunc(first, ctypes.cast(function, ctypes.c_void_p).value, 0))
    assert calls == []
done(driver.cuStreamSynchronize(first))
assert calls == ["NOT_PERMITTED"]

# Events measure time, unless disabled, and synchronize across devices.
start, end, untimed = (done(driver.cuEventCreate(flags)) for flags in (0, 0, 2))
assert error(driver.cuEventElapsedTime(start, end)) == "INVALID_HANDLE"
control.set_delay(DELAY, first)
done(driver.cuEventRecord(start, first))
fill(0, first)
with control.held(first):
    done(driver.cuEventRecord(end, first))
    assert error(driver.cuEventElapsedTime(start, end)) == "NOT_READY"
done(driver.cuEventSynchronize(end))
assert 1000 * DELAY <= done(driver.cuEventElapsedTime(start, end)) < 60_000
done(driver.cuEventRecord(untimed, first))
assert error(driver.cuEventElapsedTime(start, untimed)) == "INVALID_HANDLE"
done(driver.cuCtxPushCurrent(other))
elsewhere = done(driver.cuStreamCreate(1))
with control.held(first):
    done(driver.cuEventRecord(untimed, first))
    done(driver.cuStreamWaitEvent(elsewhere, untimed, 0))
    assert error(driver.cuStreamQuery(elsewhere)) == "NOT_READY"
done(driver.cuStreamSynchronize(elsewhere))
assert done(driver.cuEventQuery(untimed)) == ()
done(driver.cuStreamDestroy(elsewhere))
done(driver.cuCtxPopCurrent())

# The work of a destroyed stream continues, and cuCtxSynchronize waits for it.
control.set_delay(DELAY, second)
fill(11, second)
done(driver.cuStreamDestroy(second))
done(driver.cuCtxSynchronize())
assert set(copy_out(pointer, 16, "u1")) == {11}

# Synchronizing calls are counted.
control.reset()
fill(0, first)
done(driver.cuStreamSynchronize(first))
assert control.device_wide() == {}
done(driver.cuMemFree(pointer))
done(driver.cuCtxSynchronize())
done(driver.cuStreamSynchronize(0))
expected = {"cuCtxSynchronize": 1, "cuMemFree": 1, "cuStreamSynchronize": 1}
assert control.device_wide() == expected
assert control.counts() == expected | {"cuMemsetD8Async": 1, "cuStreamSynchronize": 2}
