"""Failure of each driver call."""

import atexit
import ctypes
import gc
import os
import sys
import traceback

from cuda.bindings import driver as bindings

from dali_core._cuda import device_allocator, driver, memory, module, stream
from dali_core.errors import CudaError
from tests.cuda.simulated_driver import control

# What failed to be given back is lost: the driver was asked, and asking again may do harm.
GIVING_BACK = {
    "cuCtxPopCurrent",
    "cuMemFree",
    "cuMemFreeHost",
    "cuMemPoolDestroy",
    "cuModuleUnload",
    "cuStreamDestroy",
    "cuEventDestroy",
    "cuDevicePrimaryCtxRelease",
}


class Copy(ctypes.Structure):
    _fields_ = [
        ("source", ctypes.c_void_p),
        ("target", ctypes.c_void_p),
        ("rows", ctypes.c_int64),
        ("bytes", ctypes.c_int64),
        ("pitches", ctypes.c_int64 * 2),
    ]


def use_everything():
    own = stream.Stream(0)
    foreign = stream.Stream.wrap(None, 0)
    memory.preallocate_host(100)
    source, target, table = (memory.Buffer(own, size) for size in (64, 64, ctypes.sizeof(Copy)))
    copy = Copy(source.pointer, target.pointer, 1, 64)
    data = (ctypes.c_char * 64)(*b"x" * 64)
    memory.copy_pointers(source.pointer, ctypes.addressof(data), 64, own)
    memory.copy_pointers(table.pointer, ctypes.addressof(copy), ctypes.sizeof(copy), own)
    module.launch_kernel(
        "copy_rows", (1,), (32,), [ctypes.c_void_p(table.pointer), ctypes.c_int(1)], own
    )
    target.record_stream(foreign)
    data[:] = b"o" * 64
    memory.copy_pointers(ctypes.addressof(data), target.pointer, 64, own)
    foreign.wait(own)
    event = own.record()
    event.synchronize()
    assert event.is_done()
    own.synchronize()
    assert own.is_idle()
    device_allocator.DeviceAllocator(own)
    memory.memory_stats(0)
    driver.device_name(0)
    del source, target, table
    own.synchronize()
    memory.release_unused_memory()
    assert data.raw == b"x" * 64


def with_failure(function, after):
    """Use everything with one call that fails, then again without."""
    bindings.cuInit(0)
    bindings.cuDevicePrimaryCtxRetain(0)
    before = control.live()
    control.reset()
    if function:
        control.fail(function, "CUDA_ERROR_INVALID_VALUE", after=after)
    error = None
    try:
        use_everything()
    except CudaError as caught:
        assert caught.status == "CUDA_ERROR_INVALID_VALUE", caught
        assert "must succeed (got CUDA_ERROR_INVALID_VALUE" in str(caught), caught
        error = str(caught)
    gc.collect()
    counts = control.counts()
    if function:
        control.fail(function, "CUDA_ERROR_INVALID_VALUE", times=0)
    use_everything()
    gc.collect()
    atexit._run_exitfuncs()
    after_all = control.live()
    lost = {name: number for name, number in after_all.items() if number != before[name]}
    if function:
        assert counts[function] > after, counts
    if function not in GIVING_BACK:
        assert not lost, lost
    return error, counts


def in_child(function, after):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.write(writing, repr(with_failure(function, after)).encode())
            status = 0
        except BaseException:
            print(function, after, flush=True)
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    assert os.waitpid(child, 0)[1] == 0, (function, after)
    return eval(text)


error, calls = in_child(None, 0)
assert error is None
calls.pop("kernel")
without_error = set()
for function, count in sorted(calls.items()):
    for after in sorted({0, count // 2, count - 1}):
        error, _ = in_child(function, after)
        if error is None:
            without_error.add(function)
print(*sorted(without_error))
