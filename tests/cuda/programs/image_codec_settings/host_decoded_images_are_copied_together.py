"""Host decoded images are copied together."""

from dali_core import fn
from tests.cuda.programs.image_codec.files import encoded, photos
from tests.cuda.programs.pipeline_streams.pipelines import made
from tests.cuda.simulated_driver import control


def copies():
    return control.counts().get("cuMemcpyAsync", 0)


# One batch at a time: nothing is copied for the next one meanwhile.
pipeline = made(
    lambda: [fn.decoders.image(encoded(), device="mixed")],
    batch_size=64,
    prefetch_queue_depth=1,
    exec_pipelined=False,
    exec_async=False,
)
for _ in range(3):
    before = copies()
    (batch,) = pipeline.run()
    assert copies() - before == 1, copies() - before
    before = copies()
    back = batch.as_cpu()
    assert copies() - before <= 2, copies() - before
    for number, sample in enumerate(back):
        assert sample.shape()[:2] == list(photos[number % 8].shape[:2])
pipeline.close()
