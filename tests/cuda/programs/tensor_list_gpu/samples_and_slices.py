"""Samples and slices."""

import numpy
import pytest

from dali_core import errors, types
from dali_core.tensors import TensorListGPU
from tests.cuda.programs.tensor_gpu.tensors import same, slow
from tests.cuda.programs.tensor_list_gpu.batches import images, same_list

sources = [slow(image) for image in images]
batch = TensorListGPU(sources, "HWC")
same(batch[0], images[0])
same(batch[-1], images[2])
same(batch.at(1), images[1])
same_list(batch[::2], [images[0], images[2]])
same_list(batch[1:], images[1:])
assert batch[1:].layout() == "HWC"
assert batch[1:].data_ptr() == batch[1].data_ptr()
assert len(batch[3:]) == 0
assert batch[3:].device_id() == 0
for index in (3, -4):
    with pytest.raises(errors.TensorIndexError, match="TensorListGPU: index must be below"):
        batch[index]
with pytest.raises(errors.ArgumentTypeError, match="index must be an integer"):
    batch["x"]
with pytest.raises(errors.ExchangeError, match=r"Call as_cpu\(\) first"):
    numpy.asarray(batch)
text = str(batch[:2])
assert text.startswith("TensorListGPU(")
assert 'device="gpu"' in text
assert "104]" in text
assert "num_samples=2" in repr(batch[:2])
batch.reinterpret(types.INT8)
assert batch[1].dtype == types.INT8
batch.set_layout("")
assert batch.layout() == ""
batch.reset()
assert (len(batch), batch.device_id(), batch.stream) == (0, -1, None)
