"""Copies own their memory."""

import copy
import pickle

import numpy

from dali_core import types
from dali_core.tensors import TensorGPU
from tests.cuda.programs.tensor_gpu.tensors import Interface, data, same, slow

source = slow(data)
tensor = TensorGPU(source, "HWC")
deep = copy.deepcopy(tensor)
loaded = pickle.loads(pickle.dumps(tensor))
assert len({deep.data_ptr(), loaded.data_ptr(), tensor.data_ptr()}) == 3
for other in (deep, loaded):
    assert (other.layout(), other.dtype, other.device_id()) == ("HWC", types.INT16, 0)
    same(other, data)
empty = copy.deepcopy(
    pickle.loads(
        pickle.dumps(TensorGPU(Interface(source, shape=(3, 0), data=(0, False), stream=None)))
    )
)
assert (empty.shape(), empty.device_id()) == ([3, 0], 0)
same(empty, numpy.zeros((3, 0), "int16"))
