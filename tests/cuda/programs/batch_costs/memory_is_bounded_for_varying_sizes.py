"""Memory is bounded for varying sizes."""

import numpy as np

from dali_core import cuda
from tests.cuda.programs.batch_costs import ragged_pipelines
from tests.cuda.programs.batch_costs.ragged_pipelines import made, random_crops, random_windows

ragged_pipelines.SIZE = 64
for define in (random_crops, random_windows):
    cuda.release_unused_memory()
    pipeline = made(define)
    sizes = []
    for number in range(24):
        used = pipeline.run()[0].shape()
        sizes.append(sum(np.prod(shape) for shape in used))
        if number == 8:
            before = cuda.memory_stats()["reserved_high_bytes"]
    assert len(set(sizes)) > 12 or define is random_crops, sizes
    assert cuda.memory_stats()["reserved_high_bytes"] == before
    pipeline.close()
