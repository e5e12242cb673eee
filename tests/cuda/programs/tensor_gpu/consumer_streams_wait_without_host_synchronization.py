"""Consumer streams wait without host synchronization."""

import json
import sys

import numpy

from dali_core.tensors import TensorGPU
from tests.cuda.programs.tensor_gpu.tensors import DeviceArray, consume, data, new_stream
from tests.cuda.simulated_driver import control

own, busy = new_stream(), new_stream()
stream = json.loads(sys.argv[1])
if stream == "own":
    stream = own
with control.held(busy):
    tensor = TensorGPU(DeviceArray(data, stream=busy))
    before = control.device_wide()
    capsule = tensor.__dlpack__(stream=stream)
    assert control.device_wide() == before
used = {None: 1}.get(stream, stream)
numpy.testing.assert_array_equal(consume(capsule, data, used), data)
