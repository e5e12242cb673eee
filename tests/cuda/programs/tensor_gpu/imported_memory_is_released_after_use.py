"""Imported memory is released after use."""

import numpy
from cuda.bindings import driver

from dali_core.tensors import TensorGPU
from tests.cuda.programs.tensor_gpu.tensors import (
    DeviceArray,
    Reading,
    call,
    data,
    new_stream,
    slow,
)
from tests.cuda.simulated_driver import control
from tests.waiting import wait_until

source = slow(data)
target = DeviceArray(numpy.zeros_like(data))
stream = new_stream()


def use(make):
    tensor = make()
    tensor.copy_to_external(target.pointer, stream, non_blocking=True)
    TensorGPU(tensor).__dlpack__(stream=stream)


for make in (
    lambda: TensorGPU(source),
    lambda: TensorGPU(source.__dlpack__(stream=stream), "", stream),
):
    returned = source.producer.num_returned
    with control.held(stream):
        use(make)
        assert source.producer.num_returned == returned
    call(driver.cuStreamSynchronize, stream)
    # When the next ones come, those that are done with go.
    wait_until(lambda: TensorGPU(target) and source.producer.num_returned > returned)
    assert source.producer.num_returned == returned + 1
numpy.testing.assert_array_equal(Reading(target.pointer, data, stream).result(), data)
