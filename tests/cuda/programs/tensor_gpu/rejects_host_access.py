"""Rejects host access."""

import numpy
import pytest

from dali_core import errors
from dali_core.tensors import TensorCPU, TensorGPU
from tests.cuda.programs.tensor_gpu.tensors import DeviceArray, data

source = DeviceArray(data)
tensor = TensorGPU(source)
for read in (numpy.asarray, numpy.array, TensorCPU):
    with pytest.raises((errors.ExchangeError, errors.ArgumentTypeError)) as caught:
        read(tensor)
    assert "host" in str(caught.value)
with pytest.raises(errors.ExchangeError, match=r"Call as_cpu\(\) first"):
    numpy.asarray(tensor)
with pytest.raises(TypeError):
    memoryview(tensor)
