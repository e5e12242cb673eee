"""Memory is reused after consumer streams."""

import copy

import numpy

from dali_core.tensors import TensorGPU
from tests.cuda.programs.tensor_gpu.tensors import (
    Consumer,
    DeviceArray,
    Reading,
    data,
    new_stream,
    same,
    slow,
)
from tests.cuda.simulated_driver import control

source = slow(data)
tensor = copy.deepcopy(TensorGPU(source))
stream = new_stream()
control.set_delay(0.3, stream)
consumer = Consumer(tensor.__dlpack__(stream=stream))
reading = Reading(consumer.address, data, stream)
# Nobody has it any more, and others may ask for memory.
consumer.give_back()
del tensor
other = copy.deepcopy(TensorGPU(DeviceArray(data + 1)))
numpy.testing.assert_array_equal(reading.result(), data)
same(other, data + 1)
