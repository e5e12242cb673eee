"""Copy to external."""

import json
import sys

import numpy
import pytest

from dali_core import errors
from dali_core.tensors import TensorGPU
from tests.cuda.programs.tensor_gpu.tensors import DeviceArray, Reading, new_stream, slow
from tests.cuda.simulated_driver import control

kernel = json.loads(sys.argv[1])
num_kernels = json.loads(sys.argv[2])
odd = numpy.arange(1037, dtype="uint8")
source = slow(odd)
tensor = TensorGPU(source)
target = DeviceArray(numpy.zeros(1040, "uint8"))
stream = new_stream()


def kernels():
    return control.counts().get("kernel", 0)


for offset in (0, 3):
    before = kernels()
    tensor.copy_to_external(target.pointer + offset, stream, True, kernel)
    got = Reading(target.pointer + offset, odd, stream).result()
    numpy.testing.assert_array_equal(got, odd)
    assert kernels() - before == num_kernels
# Without a stream that of all, and the caller waits for it.
control.set_delay(0.02, 1)
tensor.copy_to_external(target.pointer + 1, use_copy_kernel=kernel)
numpy.testing.assert_array_equal(Reading(target.pointer + 1, odd, stream).result(), odd)
# The host is no place that kernels reach.
host = numpy.zeros_like(odd)
tensor.copy_to_external(host.ctypes.data, stream, use_copy_kernel=kernel)
numpy.testing.assert_array_equal(host, odd)
with pytest.raises(errors.ArgumentTypeError, match="TensorGPU.copy_to_external: ptr"):
    tensor.copy_to_external(0)
