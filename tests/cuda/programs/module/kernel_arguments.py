"""Kernel arguments."""

import json
import sys

folder = json.loads(sys.argv[1])
import ctypes
from pathlib import Path

from dali_core import cuda, errors
from dali_core._cuda import memory, module
from tests.cuda.leaks import expect_nothing_left


class Scale(ctypes.Structure):
    _fields_ = [("factor", ctypes.c_float), ("offset", ctypes.c_double)]


expect_nothing_left()
module.folders.append(Path(folder))
stream = cuda.Stream(0)
size = 1000
blocks = [memory.Buffer(stream, size * 4) for _ in range(2)]
source, target = (ctypes.c_void_p(block.pointer) for block in blocks)
result = (ctypes.c_float * size)()

module.launch_kernel(
    "simulated_fill_float",
    (4,),
    (256,),
    [source, ctypes.c_longlong(size), ctypes.c_float(1.5)],
    stream,
)
# A structure that is aligned to 8 bytes behind 4.
module.launch_kernel(
    "simulated_scale",
    (2, 1),
    (64, 1, 1),
    [source, target, ctypes.c_int(size), Scale(2, 0.25)],
    stream,
)
memory.copy_pointers(ctypes.addressof(result), target.value, size * 4, stream)
stream.synchronize()
assert list(result) == [3.25] * size

# Memory that threads of a block share.
numbers = (ctypes.c_int * 64)(*range(64))
totals = (ctypes.c_int * 3)()
memory.copy_pointers(source.value, ctypes.addressof(numbers), 256, stream)
memory.copy_pointers(target.value, ctypes.addressof(totals), 12, stream)
module.launch_kernel(
    "simulated_sum",
    (2,),
    (32,),
    [source, target, ctypes.c_void_p(target.value + 8)],
    stream,
    shared_bytes=128,
)
memory.copy_pointers(ctypes.addressof(totals), target.value, 12, stream)
stream.synchronize()
assert list(totals) == [496, 1520, 2016]


class Large(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 250)]


fill = "simulated_fill_float"
for arguments, kind, message in (
    ([3], errors.ArgumentTypeError, "arguments must be objects of ctypes (got 3)"),
    ([ctypes.c_int(1)] * 17, errors.ArgumentValueError, "must be at most 16 (got 17)"),
    ([source, Large()], errors.ArgumentValueError, "at most 256 bytes"),
):
    try:
        module.launch_kernel(fill, (1,), (1,), arguments, stream)
    except kind as error:
        assert message in str(error), error
    else:
        raise AssertionError
try:
    module.launch_kernel(fill, (1, 1, 1, 1), (1,), [], stream)
except errors.ArgumentValueError as error:
    assert "one to three extents" in str(error)
else:
    raise AssertionError
