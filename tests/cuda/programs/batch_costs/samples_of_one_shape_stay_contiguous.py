"""Samples of one shape stay contiguous."""

import numpy as np

from dali_core import fn
from tests.cuda.programs.batch_costs import ragged_pipelines
from tests.cuda.programs.batch_costs.ragged_pipelines import SIZE, made
from tests.cuda.simulated_driver import control


def images(number):
    return [np.full((5, 3, 3), number + i, np.uint8) for i in range(SIZE)]


ragged_pipelines.images = images
pipeline = made(lambda image: fn.flip(image.gpu()))
(batch,) = pipeline.run()
before = control.counts()["cuMemAllocFromPoolAsync"]
whole = batch.as_tensor()
assert control.counts()["cuMemAllocFromPoolAsync"] == before
assert [sample.data_ptr() - whole.data_ptr() for sample in batch] == [45 * i for i in range(SIZE)]
np.testing.assert_array_equal(np.array(whole.as_cpu()), np.stack(images(0)))
pipeline.close()
