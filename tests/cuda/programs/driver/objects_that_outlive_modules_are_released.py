"""Objects that outlive modules are released."""

import builtins

from cuda.bindings import driver

from dali_core import cuda
from dali_core._cuda import memory
from tests.cuda.simulated_driver import control

library = control._library()


class Last:
    def __init__(self):
        self.keep = memory.Buffer(cuda.Stream(0), 1000)

    def __del__(self, live=library.simulated_live):
        del self.keep
        print(live().decode())


driver.cuInit(0)
driver.cuDevicePrimaryCtxRetain(0)
builtins.last = Last()
