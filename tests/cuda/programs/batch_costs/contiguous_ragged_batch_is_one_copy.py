"""Contiguous ragged batch is one copy."""

import numpy as np

from dali_core import Pipeline, fn

lengths = [7, 300, 0, 5, 1000, 3]


def source():
    data = np.arange(sum(lengths), dtype=np.uint16)
    ends = np.cumsum(lengths)
    while True:
        yield [data[end - length : end] for length, end in zip(lengths, ends)]


pipeline = Pipeline(batch_size=len(lengths), num_threads=1, device_id=0, prefetch_queue_depth=1)
with pipeline:
    pipeline.set_outputs(fn.external_source(source=source, no_copy=True).gpu())
for _ in range(3):
    (batch,) = pipeline.run()
    assert all(s.data_ptr() % 256 == 0 for s, length in zip(batch, lengths) if length)
    for sample, expected in zip(batch.as_cpu(), next(source()), strict=True):
        np.testing.assert_array_equal(np.array(sample), expected)
pipeline.close()
