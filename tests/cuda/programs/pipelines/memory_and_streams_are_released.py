"""Memory and streams are released."""

from dali_core import fn
from tests.cuda.programs.pipelines.ragged_batches import batches, left, made
from tests.cuda.simulated_driver import control
from tests.waiting import wait_until

pipeline = made(lambda: fn.external_source(source=batches).gpu())
sizes = []
for number in range(80):
    pipeline.run()
    sizes.append(control.live()["allocations"])
# How many there are depends on how far the threads are; each batch needs at least one.
assert max(sizes) <= 20, sizes
batch = pipeline.run()
pipeline.close()
del pipeline
assert left(), "the batch is still there"
del batch
wait_until(lambda: not left(), left)
