"""Primary context is retained once and current context restored."""

import contextlib
import threading

from cuda.bindings import driver as bindings

from dali_core import cuda, errors
from dali_core._cuda import memory, module
from tests.cuda.leaks import expect_nothing_left
from tests.cuda.simulated_driver import control


def current():
    _status, context = bindings.cuCtxGetCurrent()
    return int(context)


def use(number):
    stream = cuda.Stream(number)
    _block = memory.Buffer(stream, 100)  # until the end of the function
    stream.record().synchronize()


def fail(number):
    stream = cuda.Stream(number)
    block = memory.Buffer(stream, 100)
    with contextlib.suppress(errors.CudaError):
        module.launch_kernel("no such kernel", (1,), (1,), [], stream)
    control.fail("cuMemcpyAsync", "CUDA_ERROR_INVALID_VALUE")
    try:
        memory.copy_pointers(block.pointer, block.pointer + 50, 50, stream)
    except errors.CudaError as error:
        assert error.status == "CUDA_ERROR_INVALID_VALUE"
    else:
        raise AssertionError


expect_nothing_left(2)
assert current() == 0
for number in (0, 1):
    use(number)
    fail(number)
assert current() == 0
status, mine = bindings.cuDevicePrimaryCtxRetain(0)
bindings.cuCtxPushCurrent(mine)
for number in (1, 0):
    use(number)
    fail(number)
assert current() == int(mine)
bindings.cuCtxPopCurrent()
bindings.cuDevicePrimaryCtxRelease(0)
seen = []


def in_thread(number):
    use(number % 2)
    seen.append(current())


threads = [threading.Thread(target=in_thread, args=(i,)) for i in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert seen == [0] * 6
# Two of the test, one each of the library.
assert control.live()["primary_context_retains"] == 4
assert control.counts()["cuInit"] == 2
