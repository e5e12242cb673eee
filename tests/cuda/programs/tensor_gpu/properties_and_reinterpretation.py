"""Properties and reinterpretation."""

import copy

import pytest

from dali_core import errors, types
from dali_core.tensors import TensorGPU
from tests.cuda.programs.tensor_gpu.tensors import DeviceArray, data, same

source = DeviceArray(data)
tensor = TensorGPU(source, "HWC")
assert tensor.shape() == [2, 3, 4]
assert (tensor.ndim(), len(tensor), bool(tensor)) == (3, 2, True)
assert tensor.dtype == types.INT16
assert tensor.layout() == tensor.get_property("layout") == "HWC"
assert tensor.source_info() == ""
assert tensor.get_property("source_info") is None
assert tensor.data_ptr() == source.pointer
assert tensor.device_id() == 0
assert tensor.__dlpack_device__() == (2, 0)
assert tensor.stream.__cuda_stream__() == (0, tensor.stream.handle)
same(tensor, data)
assert str(tensor).startswith("TensorGPU(")
assert "23]" in str(tensor)
assert 'device="gpu"' in repr(tensor)
assert "23]" not in repr(tensor)
shared = copy.copy(tensor)
shared.reinterpret(types.UINT16)
shared.set_layout("CHW")
assert (tensor.dtype, tensor.layout(), shared.dtype) == (types.INT16, "HWC", types.UINT16)
assert shared.data_ptr() == tensor.data_ptr()
with pytest.raises(errors.TensorError, match=r"TensorGPU\.reinterpret: new_type"):
    tensor.reinterpret(types.FLOAT)
one = TensorGPU(DeviceArray(data[None].copy()), "NHWC")
assert one.squeeze(1) is False
assert one.squeeze() is True
assert (one.shape(), one.layout()) == ([2, 3, 4], "HWC")
with pytest.raises(errors.TensorIndexError, match=r"TensorGPU\.squeeze: dim"):
    one.squeeze(3)
