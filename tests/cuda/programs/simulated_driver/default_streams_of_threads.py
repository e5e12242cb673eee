"""Print which default stream the handle 0 stands for."""

from cuda.bindings import driver

from tests.cuda.calls import done, use_device

use_device()
ids = [done(driver.cuStreamGetId(driver.CUstream(handle))) for handle in (0, 1, 2)]
print(ids.index(ids[0], 1))
