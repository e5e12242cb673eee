"""Import from cuda array interface."""

import pytest

from dali_core import errors
from dali_core.tensors import TensorGPU
from tests.cuda.programs.tensor_gpu.tensors import Interface, data, same, slow

source = slow(data)
tensor = TensorGPU(Interface(source))
assert (tensor.stream.handle, tensor.data_ptr()) == (source.stream, source.pointer)
assert tensor.__cuda_array_interface__ == {
    "shape": (2, 3, 4),
    "typestr": "<i2",
    "data": (source.pointer, False),
    "version": 3,
    "strides": None,
    "stream": 1,
}
same(tensor, data)
tensor = TensorGPU(Interface(source, stream=None, strides=(24, 8, 2)), "HWC", 0)
same(tensor, data)
scalar = Interface(source, stream=None, shape=(), data=(source.pointer, True))
same(TensorGPU(scalar, device_id=0), data[0, 0, 0])
assert TensorGPU(scalar).__cuda_array_interface__["data"] == (source.pointer, True)
for changes, error, message in (
    ({"stream": 0}, errors.ArgumentValueError, "ambiguous"),
    ({"mask": source}, errors.ExchangeError, "must have no mask"),
    ({"strides": (24, 2, 6)}, errors.ExchangeError, "dense and row-major"),
    ({"typestr": ">i2"}, errors.ExchangeError, "byte order"),
    ({"typestr": "<c8"}, errors.ArgumentTypeError, "must be numbers"),
    ({"data": (data.ctypes.data, False)}, errors.ExchangeError, "memory of the host"),
):
    with pytest.raises(error) as caught:
        TensorGPU(Interface(source, **changes))
    assert message in str(caught.value), caught.value
with pytest.raises(errors.ArgumentValueError, match="must be on device_id 1"):
    TensorGPU(Interface(source), None, 1)
with pytest.raises(errors.ArgumentTypeError, match="either stream or device_id"):
    TensorGPU(Interface(source), None, 0, stream=1)
