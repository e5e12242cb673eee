"""Memory of fed data is released."""

import gc

from tests.cuda.other_library import DeviceArray
from tests.cuda.programs.pipeline_streams.pipelines import expected
from tests.cuda.programs.sources_on_device.feeding import fed, numbers
from tests.cuda.simulated_driver import control
from tests.waiting import wait_until


def held():
    gc.collect()
    live = control.live()
    return {name: live[name] for name in ("allocations", "streams")}


pipeline = fed(repeat_last=True)
array = DeviceArray(expected(0))
for number in range(20):
    pipeline.feed_input("data", array)
    for _ in range(3):
        (batch,) = pipeline.run()
        assert (numbers(batch) == expected(0)).all()
    if number == 1:
        most = held()
wait_until(lambda: all(count <= most[name] for name, count in held().items()), held)
pipeline.close()
del pipeline, batch
wait_until(lambda: held()["allocations"] == 1, held)
