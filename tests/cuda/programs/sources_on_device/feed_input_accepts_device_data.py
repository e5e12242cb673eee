"""Feed input accepts device data."""

import numpy as np

from dali_core.tensors import TensorGPU, TensorListGPU
from tests.cuda.other_library import DeviceArray, Interface
from tests.cuda.programs.pipeline_streams.pipelines import expected
from tests.cuda.programs.sources_on_device.feeding import fed, numbers


def interface(array):
    return Interface(DeviceArray(array))


def tensor(array):
    return TensorGPU(DeviceArray(array))


pipeline = fed()
ways = [DeviceArray, interface, tensor, TensorListGPU, np.copy]
number = 0
for make in ways:
    for as_list in (False, True):
        data = expected(number)
        if make is TensorListGPU:
            data = TensorListGPU(DeviceArray(data))
        elif as_list:
            data = [make(sample) for sample in data]
        else:
            data = make(data)
        pipeline.feed_input("data", data, layout="X")
        (batch,) = pipeline.run()
        assert (numbers(batch) == expected(number)).all(), (make, as_list)
        assert batch.layout() == "X"
        number += 1

pipeline = fed()
ragged = [np.full((i + 1, 2), i, np.float32) for i in range(3)]
pipeline.feed_input("data", [DeviceArray(sample) for sample in ragged])
(batch,) = pipeline.run()
assert batch.shape() == [(1, 2), (2, 2), (3, 2)]
assert all((np.asarray(a) == b).all() for a, b in zip(batch.as_cpu(), ragged, strict=True))
