"""Cuda array interface consumers that ignore the stream."""

import copy

import numpy

from dali_core.tensors import TensorGPU
from tests.cuda.programs.tensor_gpu.tensors import DeviceArray, Interface, Reading, data, same, slow
from tests.cuda.simulated_driver import control

for _ in range(3):
    tensor = TensorGPU(Interface(slow(data)))
    copied = copy.deepcopy(tensor)  # memory of ours, which is reused
    del tensor
    interface = copied.__cuda_array_interface__
    control.set_delay(0.05, 1)
    reading = Reading(interface["data"][0], data, 1)
    del copied
    control.set_delay(0, 1)
    other = TensorGPU(DeviceArray(data + 1))
    again = [copy.deepcopy(other) for _ in range(3)]
    numpy.testing.assert_array_equal(reading.result(), data, strict=True)
    for each in again:
        same(each, data + 1)
