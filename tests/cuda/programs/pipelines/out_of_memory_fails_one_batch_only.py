"""Out of memory fails one batch only."""

import numpy as np

from dali_core import fn
from dali_core.errors import SampleError
from tests.cuda.programs.pipelines.ragged_batches import made


def big():
    while True:
        size = yield_sizes.pop(0) if yield_sizes else 1000
        yield [np.full(size, 7, np.uint8) for _ in range(5)]


yield_sizes = [1000] * 3 + [4_000_000] + [1000] * 20
pipeline = made(lambda: fn.external_source(source=big).gpu(), prefetch_queue_depth=1)
results = []
for number in range(8):
    try:
        results.append(len(pipeline.run()[0].as_cpu()))
    except SampleError as error:
        assert isinstance(error.__cause__, MemoryError), repr(error.__cause__)
        results.append("full")
assert results.count("full") == 1 and results.count(5) == 7, results
