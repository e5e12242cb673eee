"""Given stream waits for outputs."""

from tests.cuda.other_library import Reading, new_stream
from tests.cuda.programs.pipeline_streams.pipelines import expected, made, numbered
from tests.cuda.simulated_driver import control


class Wrapped:
    def __init__(self, handle):
        self.cuda_stream = handle


handle = new_stream()
pipeline = made(lambda: numbered(device="gpu"), prefetch_queue_depth=1)
pipeline.build()
for number, stream in enumerate((handle, Wrapped(handle), None)):
    with control.held(pipeline.output_stream().handle):
        pipeline.schedule_run()
        take = pipeline.outputs if number else pipeline.share_outputs
        (batch,) = take(cuda_stream=stream)
        reading = Reading(batch.data_ptr(), expected(0), handle)
        pipeline.release_outputs()
        if stream is None:
            assert (reading.result() != expected(number)).any()
    if stream is not None:
        assert (reading.result() == expected(number)).all(), number
    # Nobody has said that this stream uses the batch: it has to be there until it has.
    batch.synchronize()
    assert (Reading(batch.data_ptr(), expected(0), handle).result() == expected(number)).all()
assert control.counts().get("cuStreamSynchronize", 0) == 6  # of the readings
