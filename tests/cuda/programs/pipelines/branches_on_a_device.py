"""Branches on a device."""

import numpy as np

from tests.cuda.branching import branching

pipeline = branching(batch_size=5, num_threads=2, device_id=0)
for number in range(4):
    result, numbers = pipeline.run()
    assert type(result).__name__ == "TensorListGPU"
    for value, number_of_sample in zip(result.as_cpu(), numbers, strict=True):
        wanted = np.array(number_of_sample)
        assert np.array(value) == (wanted + 100 if wanted % 2 == 0 else wanted)
