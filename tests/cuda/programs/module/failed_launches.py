"""Failed launches."""

import json
import sys

folder = json.loads(sys.argv[1])
import ctypes
from pathlib import Path

from dali_core import cuda, errors
from dali_core._cuda import memory, module
from tests.cuda.simulated_driver import control


def error_of(use, *arguments):
    try:
        use(*arguments)
    except errors.CudaError as error:
        return error
    raise AssertionError


def launch(stream, blocks=1):
    block = memory.Buffer(stream, 100)
    arguments = [ctypes.c_void_p(block.pointer), ctypes.c_longlong(100), ctypes.c_byte(1)]
    module.launch_kernel("simulated_fill_byte", (blocks,), (128,), arguments, stream)


module.folders.append(Path(folder))
stream, other = cuda.Stream(0), cuda.Stream(1)
error = error_of(module.launch_kernel, "nonsense", (1,), (1,), [], stream)
assert "kernel 'nonsense' must be among those" in str(error)

# One launch that is wrong harms nothing else.
error = error_of(launch, stream, 0)
assert error.status == "CUDA_ERROR_INVALID_VALUE"
assert str(error).startswith(
    "CUDA device 0: launching kernel 'simulated_fill_byte' with a "
    "grid of (0, 1, 1) and blocks of (128, 1, 1) threads must succeed"
), error
launch(stream)
stream.synchronize()

# A kernel that fails breaks its device, which is said once.
control.fail("kernel", "CUDA_ERROR_ILLEGAL_ADDRESS")
launch(stream)
first = error_of(stream.synchronize)
assert first.status == "CUDA_ERROR_ILLEGAL_ADDRESS"
assert "the last kernel launched there is 'simulated_fill_byte'" in str(first)
for use in (launch, cuda.Stream.synchronize, cuda.Stream.record):
    later = error_of(use, stream)
    assert str(later).startswith("CUDA device 0: work must not follow an error"), later
    assert str(first) in str(later)
launch(other)
other.synchronize()
