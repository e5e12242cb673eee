"""Viewed as one tensor."""

import numpy
import pytest

from dali_core import errors
from dali_core.tensors import TensorListGPU
from tests.cuda.programs.tensor_gpu.tensors import same, slow
from tests.cuda.programs.tensor_list_gpu.batches import equal, images, kernels

source = slow(equal)
batch = TensorListGPU(source, "HW")
before = kernels()
whole = batch.as_tensor()
assert (whole.data_ptr(), whole.layout()) == (source.pointer, "NHW")
same(whole, equal)
same(batch.as_reshaped_tensor([3, 8]), equal.reshape(3, 8))
assert kernels() == before
with pytest.raises(errors.TensorError, match="shape must have 24 elements"):
    batch.as_reshaped_tensor([5, 5])
# Every second sample: apart in memory, moved together at the first need, by one launch.
part = batch[::2]
joined = part.as_tensor()
same(joined, equal[::2])
assert part.data_ptr() == joined.data_ptr() != source.pointer
same(part[1], equal[2])
assert kernels() == before + 1
ragged = TensorListGPU([slow(image) for image in images], contiguous=False)
count = sum(image.size for image in images)
same(ragged.as_reshaped_tensor([count]), numpy.concatenate([i.ravel() for i in images]))
with pytest.raises(errors.TensorError, match="all samples must have the same"):
    ragged.as_tensor()
