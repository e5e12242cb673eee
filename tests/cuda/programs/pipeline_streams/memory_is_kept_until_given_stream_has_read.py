"""Memory is kept until given stream has read."""

from tests.cuda.other_library import Reading, new_stream
from tests.cuda.programs.pipeline_streams.pipelines import expected, made, numbered
from tests.cuda.simulated_driver import control

handle = new_stream()
pipeline = made(lambda: numbered(device="gpu"))
readings = []
control.set_delay(0.05, handle)
for number in range(6):
    (batch,) = pipeline.run(handle)
    readings.append(Reading(batch.data_ptr(), expected(0), handle))
    del batch
for number, reading in enumerate(readings):
    assert (reading.result() == expected(number)).all(), number
