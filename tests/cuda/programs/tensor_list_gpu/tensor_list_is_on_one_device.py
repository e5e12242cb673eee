"""Tensor list is on one device."""

import pytest

from dali_core import errors
from dali_core.tensors import TensorListGPU
from tests.cuda.programs.tensor_gpu.tensors import slow
from tests.cuda.programs.tensor_list_gpu.batches import images, same_list

sources = [slow(image, device=device) for device, image in enumerate(images[:2])]
with pytest.raises(errors.ArgumentValueError, match="samples on devices 0 and 1"):
    TensorListGPU(sources)
batch = TensorListGPU(sources[1:], "HWC")
assert (batch.device_id(), batch.stream.device_id) == (1, 1)
same_list(batch, images[1:2])
