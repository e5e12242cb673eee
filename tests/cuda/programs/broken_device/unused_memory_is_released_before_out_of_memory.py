"""Unused memory is released before out of memory."""

import numpy as np

from dali_core import Pipeline, fn


def run(size):
    pipeline = Pipeline(1, 1, 0, prefetch_queue_depth=1)
    with pipeline:
        data = fn.external_source(source=lambda: [np.full(size, 7, np.uint8)])
        pipeline.set_outputs(data.gpu())
    for _ in range(3):
        assert (np.array(pipeline.run()[0].as_cpu()[0]) == 7).all()
    pipeline.close()


for size in (12_000_000, 20_000_000, 7_000_000, 22_000_000, 12_000_000):
    run(size)
