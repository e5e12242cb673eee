"""Devices that read pageable memory late."""

import copy
import pickle

import numpy as np

from dali_core import fn
from dali_core.tensors import TensorListGPU
from tests.cuda.programs.batch_costs.ragged_pipelines import images, made

pipeline = made(lambda image: fn.flip(image.gpu()))
for number in range(4):
    (batch,) = pipeline.run()
    samples = list(batch)
    apart = TensorListGPU(samples[::-1], contiguous=False)
    together = TensorListGPU(samples[::-1])
    returned = pickle.loads(pickle.dumps(together))
    one = pickle.loads(pickle.dumps(samples[0]))
    for found in (apart, together, copy.deepcopy(apart), returned):
        for sample, expected in zip(found.as_cpu(), images(number)[::-1], strict=True):
            np.testing.assert_array_equal(np.array(sample), expected)
    np.testing.assert_array_equal(np.array(one.as_cpu()), images(number)[0])
pipeline.close()
