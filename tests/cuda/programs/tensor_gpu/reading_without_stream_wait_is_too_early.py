"""Reading without stream wait is too early."""

import numpy

from dali_core.tensors import TensorGPU
from tests.cuda.programs.tensor_gpu.tensors import DeviceArray, consume, data, new_stream
from tests.cuda.simulated_driver import control

busy = new_stream()
with control.held(busy):
    tensor = TensorGPU(DeviceArray(data, stream=busy))
    got = consume(tensor.__dlpack__(stream=-1), data, new_stream())
assert not numpy.array_equal(got, data)
