"""Construct from array or list."""

import pickle

import pytest

from dali_core import errors
from dali_core.tensors import TensorGPU, TensorListGPU
from tests.cuda.programs.tensor_gpu.tensors import Interface, new_stream, slow
from tests.cuda.programs.tensor_list_gpu.batches import equal, same_list

source = slow(equal)
for batch in (
    TensorListGPU(source, "HW"),
    TensorListGPU(source.__dlpack__(), "HW"),
    TensorListGPU(Interface(source), "HW", 0),
    TensorListGPU(object=source, layout="HW"),
    TensorListGPU(tl=TensorListGPU(source), layout="HW"),
    TensorListGPU(source, "HW", source.stream),
):
    assert (batch.layout(), batch.shape()) == ("HW", [(2, 3)] * 4)
    assert batch.data_ptr() == source.pointer
    assert batch.is_dense_tensor()
    same_list(batch, equal)
scalar = Interface(source, shape=())
with pytest.raises(errors.TensorError, match="batch as its first dimension"):
    TensorListGPU(scalar)
with pytest.raises(errors.ArgumentValueError, match="must be on device_id 1"):
    TensorListGPU(Interface(source), None, 1)
with pytest.raises(errors.ArgumentTypeError, match="without stream and device_id"):
    TensorListGPU(TensorListGPU(source), None, source.stream)
many = TensorListGPU.broadcast(TensorGPU(source, "NHW"), 3)
assert (len(many), many.layout()) == (3, "NHW")
assert {tensor.data_ptr() for tensor in many} == {source.pointer}
same_list(many, [equal] * 3)
assert many.as_tensor().shape() == [3, 4, 2, 3]
with pytest.raises(errors.ArgumentValueError, match="must not be negative"):
    TensorListGPU.broadcast(TensorGPU(source), -1)
stream = new_stream()
listed = TensorListGPU.from_dlpack_list([source, source], "NHW", stream)
assert source.consumer_streams[-2:] == [stream] * 2
assert listed[1].data_ptr() == source.pointer
same_list(TensorListGPU.from_dlpack_list([source], contiguous=True), [equal])
with pytest.raises(errors.ArgumentTypeError, match="item 1 must support DLPack"):
    TensorListGPU.from_dlpack_list([source, 3])
empty = TensorListGPU()
assert (len(empty), empty.shape(), empty.data_ptr(), empty.device_id()) == (0, [], 0, -1)
same_list(empty, [])
assert len(pickle.loads(pickle.dumps(empty))) == 0
