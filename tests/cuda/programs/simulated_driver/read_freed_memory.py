"""A kernel that reads memory that was freed."""

import ctypes

import numpy
from cuda.bindings import driver

from tests.cuda.calls import copy_in, copy_out, done, kernel, launch, use_device

use_device()
values, output, addresses = (done(driver.cuMemAlloc(4 * 64)) for _ in range(3))
types = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int
function = kernel("simulated_gather")
copy_in(addresses, numpy.array([int(values)], "u8"))
done(launch(function, (addresses, output, 1), types))
done(driver.cuCtxSynchronize())
print("well until here", flush=True)
done(driver.cuMemFree(values))
done(launch(function, (addresses, output, 1), types))
print(hex(copy_out(output, 1, "u4")[0]))
