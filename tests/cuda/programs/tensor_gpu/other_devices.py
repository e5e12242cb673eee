"""Other devices."""

import copy
import pickle

import pytest
from cuda.bindings import driver

from dali_core import errors
from dali_core.tensors import TensorGPU
from tests.cuda.programs.tensor_gpu.tensors import (
    Interface,
    call,
    data,
    enter,
    new_stream,
    same,
    slow,
)

source = slow(data, device=1)
enter(0)
tensor = TensorGPU(source)
assert (tensor.device_id(), tensor.stream.device_id) == (1, 1)
assert tensor.__dlpack_device__() == (2, 1)
same(copy.deepcopy(tensor), data)
same(TensorGPU(Interface(source)), data)
assert int(call(driver.cuCtxGetDevice)) == 0
assert pickle.loads(pickle.dumps(tensor)).device_id() == 1
with pytest.raises(errors.ArgumentValueError, match="primary context of device 1"):
    tensor.__dlpack__(stream=new_stream(0))
