"""Steady state does not synchronize."""

from dali_core import fn
from tests.cuda.programs.pipelines.ragged_batches import batches, made
from tests.cuda.simulated_driver import control

pipeline = made(lambda: fn.external_source(source=batches).gpu())
for number in range(4):
    pipeline.run()
before, wide = control.counts(), control.device_wide()
for number in range(200):
    pipeline.run()
after = control.counts()
made_now = {name: after[name] - before.get(name, 0) for name in after}
for name in (
    "cuCtxSynchronize",
    "cuMemAlloc",
    "cuMemFree",
    "cuMemcpy",
    "cuMemcpyHtoD",
    "cuMemcpyDtoH",
    "cuStreamSynchronize",
    "cuModuleLoadData",
    "cuMemFreeHost",
):
    assert made_now.get(name, 0) == 0, (name, made_now[name])
# How many pinned blocks are in flight at once depends on how far the threads are, but it is bounded
# by the queue, and each batch needs at least five.
assert after["cuMemHostAlloc"] <= 60, after
wide["cuMemHostAlloc"] = after["cuMemHostAlloc"]
assert control.device_wide() == wide, (control.device_wide(), wide)
