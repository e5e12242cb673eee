"""Everything that tensors and batches can do, in a program that a strict type checker accepts."""

# mypy: warn-unreachable

from __future__ import annotations

import copy
import ctypes
import pickle

import numpy
import torch
from numpy.typing import NDArray
from torch.utils.dlpack import from_dlpack

from dali_core import backend, types
from dali_core.tensors import TensorCPU, TensorListCPU

pixels: NDArray[numpy.uint8] = numpy.arange(24, dtype=numpy.uint8).reshape(2, 3, 4)

# One tensor.

tensor = TensorCPU(pixels, layout="HWC", is_pinned=False)
assert type(tensor) is backend.TensorCPU
others: list[TensorCPU] = [
    TensorCPU(tensor),
    TensorCPU(tensor, "CHW"),
    TensorCPU(tensor, types.TensorLayout("CHW")),
    TensorCPU(b=pixels),
    TensorCPU(object=tensor.__dlpack__(), layout="HWC"),
    TensorCPU(torch.zeros(2, 3)),
    TensorCPU(b"bytes"),
    TensorCPU([[1, 2], [3, 4]]),
    copy.copy(tensor),
    copy.deepcopy(tensor),
    pickle.loads(pickle.dumps(tensor)),
    tensor.as_cpu(),
]
extents: list[int] = tensor.shape()
rank: int = tensor.ndim()
kind: types.DALIDataType = tensor.dtype
letters: str = tensor.layout()
origin: str = tensor.source_info()
stated: str | None = tensor.get_property("layout")
address: int = tensor.data_ptr()
length: int = len(tensor)
assert (extents, rank, kind, letters, length) == ([2, 3, 4], 3, types.UINT8, "HWC", 2)
assert (origin, stated, address) == ("", "HWC", pixels.ctypes.data)

tensor.set_layout(None)
tensor.set_layout("HWC")
changed: bool = tensor.squeeze() or tensor.squeeze(0) or tensor.squeeze(dim=-1)
tensor.reinterpret(types.INT8)
assert not changed
assert tensor.dtype is types.INT8

target: NDArray[numpy.int8] = numpy.zeros_like(pixels, numpy.int8)
tensor.copy_to_external(target.ctypes.data)
tensor.copy_to_external(ctypes.c_void_p(target.ctypes.data))
view: memoryview = memoryview(tensor)
assert numpy.array_equal(target, numpy.asarray(tensor))
assert numpy.array_equal(target, numpy.from_dlpack(tensor))
assert numpy.array_equal(target, from_dlpack(tensor).numpy())
assert numpy.array_equal(target, tensor.__array__())
assert (view.shape, tensor.__array_interface__["shape"]) == ((2, 3, 4), (2, 3, 4))
device: tuple[int, int] = tensor.__dlpack_device__()
capsule = tensor.__dlpack__(stream=None, max_version=(1, 0), dl_device=device, copy=True)
assert TensorCPU(capsule).shape() == extents
print(repr(tensor), tensor)

# A batch.

batch = TensorListCPU(pixels, "WC")
batches: list[TensorListCPU] = [
    TensorListCPU(batch),
    TensorListCPU(batch, layout="AB"),
    TensorListCPU([tensor, pixels.view(numpy.int8)]),
    TensorListCPU([tensor, tensor], "HWC", contiguous=False),
    TensorListCPU(b=pixels, is_pinned=False),
    TensorListCPU(object=TensorCPU(pixels).__dlpack__()),
    TensorListCPU(tl=batch),
    TensorListCPU(list_of_tensors=[tensor], layout="HWC", contiguous=True),
    TensorListCPU.broadcast(tensor, 5),
    TensorListCPU.from_dlpack_list([torch.zeros(2), numpy.zeros(3, numpy.float32)], layout="X"),
    TensorListCPU.from_dlpack_list(list_of_objects=[pixels], contiguous=True),
    copy.copy(batch),
    copy.deepcopy(batch),
    pickle.loads(pickle.dumps(batch)),
    batch.as_cpu(),
    batch[1:],
]
shapes: list[tuple[int, ...]] = batch.shape()
count: int = len(batch)
assert (shapes, count, batch.ndim(), batch.dtype) == ([(3, 4)] * 2, 2, 2, types.UINT8)
assert (batch.layout(), batch.is_dense_tensor()) == ("WC", True)
sample: TensorCPU = batch[-1]
part: NDArray[numpy.uint8] = batch.at(1)
whole: TensorCPU = batch.as_tensor()
flat: TensorCPU = batch.as_reshaped_tensor([24])
array: NDArray[numpy.uint8] = batch.as_array()
assert numpy.array_equal(array, pixels)
assert numpy.array_equal(numpy.asarray(batch), pixels)
assert numpy.array_equal(part, numpy.asarray(sample))
assert (whole.layout(), flat.shape(), batch.data_ptr()) == ("NWC", [24], pixels.ctypes.data)
assert [one.layout() for one in batch] == ["WC", "WC"]
everything: NDArray[numpy.uint8] = numpy.empty_like(pixels)
batch.copy_to_external(everything.ctypes.data)
assert numpy.array_equal(everything, pixels)
batch.set_layout("AB")
batch.reinterpret(types.INT8)
print(repr(batch), batch)
batch.reset()
assert len(batch) == 0
