"""A kernel that reads behind an allocation."""

import ctypes

from cuda.bindings import driver

from tests.cuda.calls import done, kernel, launch, use_device

use_device()
values, output = (done(driver.cuMemAlloc(4 * 64)) for _ in range(2))
types = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int
function = kernel("simulated_neighbours")
done(launch(function, (values, output, 63), types))
done(driver.cuCtxSynchronize())
print("well until here", flush=True)
done(launch(function, (values, output, 64), types))
done(driver.cuCtxSynchronize())
