"""Ragged samples begin aligned."""

import numpy as np

from tests.cuda.programs.batch_costs.ragged_pipelines import images, made
from tests.cuda.simulated_driver import control

pipeline = made(lambda image: image.gpu())
for number in range(3):
    before = control.counts().get("cuMemcpyAsync", 0)
    (batch,) = pipeline.run()
    assert control.counts()["cuMemcpyAsync"] - before == 1
    wanted = images(number)
    addresses = [sample.data_ptr() for sample in batch]
    assert all(address % 256 == 0 for address in addresses)
    assert addresses == [s.__cuda_array_interface__["data"][0] for s in batch]
    for sample, expected in zip(batch.as_cpu(), wanted, strict=True):
        np.testing.assert_array_equal(np.array(sample), expected)
    together = batch.as_reshaped_tensor([sum(image.size for image in wanted)])
    flat = np.concatenate([image.ravel() for image in wanted])
    np.testing.assert_array_equal(np.array(together.as_cpu()), flat)
    # The samples have moved there, one after the other.
    assert batch.data_ptr() == together.data_ptr() == batch[0].data_ptr()
    assert batch[1].data_ptr() == batch[0].data_ptr() + wanted[0].size
pipeline.close()
