"""Images outlive their pipeline."""

import gc

import numpy as np

from dali_core import fn
from tests.cuda import image_codec
from tests.cuda.other_library import Reading, new_stream
from tests.cuda.programs.image_codec.files import encoded, results
from tests.cuda.programs.pipeline_streams.pipelines import made
from tests.cuda.simulated_driver import control

image_codec.refused.add(3)


def images(data, device):
    return fn.decoders.image(data, device=device)


expected = results(images, "cpu")
pipeline = made(lambda: [fn.decoders.image(encoded(), device="mixed")], prefetch_queue_depth=3)
batches = []
for number in range(4):
    (batch,) = pipeline.run()
    for sample in batch:  # to the address of the codec's memory: nothing was copied
        assert sample.shape()[0] > 0
    batches.append(batch)
handle = new_stream()
control.set_delay(0.02, handle)
kept = batches[1][1]
kept.synchronize()
read = Reading(kept.data_ptr(), expected[5], handle).result()
assert np.abs(read.astype(int) - expected[5]).mean() < 1
pipeline.close()
del pipeline, batch, sample
for number, batch in enumerate(batches):
    for place, sample in enumerate(batch.as_cpu()):
        difference = np.abs(np.array(sample).astype(int) - expected[4 * number + place])
        assert difference.mean() < 1, (number, place)
del batches, batch, sample
gc.collect()
kept.synchronize()
assert np.abs(np.array(kept.as_cpu()).astype(int) - expected[5]).mean() < 1
control.set_delay(0.0)
