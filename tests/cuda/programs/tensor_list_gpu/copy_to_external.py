"""Copy to external."""

import json
import sys

import numpy
from cuda.bindings import driver

from dali_core.tensors import TensorListGPU
from tests.cuda.programs.tensor_gpu.tensors import DeviceArray, Reading, call, new_stream, slow
from tests.cuda.programs.tensor_list_gpu.batches import images, kernels, same_list
from tests.cuda.simulated_driver import control

contiguous = json.loads(sys.argv[1])
kernel = json.loads(sys.argv[2])
num_kernels = json.loads(sys.argv[3])
sources = [slow(image) for image in images]
batch = TensorListGPU(sources, "HWC", contiguous)
expected = numpy.concatenate([image.ravel() for image in images])
target = DeviceArray(numpy.zeros(expected.size + 8, "uint8"))
stream = new_stream()
call(driver.cuStreamSynchronize, sources[2].stream)
# The kernel is loaded at its first use.
same_list(TensorListGPU(list(batch)), images)
before, wide = kernels(), control.device_wide()
with control.held(stream):
    batch.copy_to_external(target.pointer + 1, stream, True, kernel)
    assert control.device_wide() == wide
got = Reading(target.pointer + 1, expected, stream).result()
numpy.testing.assert_array_equal(got, expected)
assert kernels() - before == num_kernels
control.set_delay(0.05, stream)
host = numpy.zeros_like(expected)
batch.copy_to_external(host.ctypes.data, cuda_stream=stream)
numpy.testing.assert_array_equal(host, expected)
