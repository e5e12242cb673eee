"""A kernel that writes behind an allocation, which is freed afterwards."""

import ctypes

from cuda.bindings import driver

from tests.cuda.calls import done, kernel, launch, use_device

use_device()
values = done(driver.cuMemAlloc(4 * 64))
types = ctypes.c_void_p, ctypes.c_longlong, ctypes.c_float
done(launch(kernel("simulated_fill_float"), (values, 66, 0.0), types))
driver.cuMemFree(values)
