"""Construct from samples."""

import pytest

from dali_core import errors, types
from dali_core.tensors import TensorGPU, TensorListGPU
from tests.cuda.programs.tensor_gpu.tensors import DeviceArray, slow
from tests.cuda.programs.tensor_list_gpu.batches import equal, images, kernels, same_list
from tests.cuda.simulated_driver import control

sources = [slow(image) for image in images]
before = kernels(), control.counts().get("cuMemAllocFromPoolAsync", 0)
batch = TensorListGPU(sources, "HWC")
after = kernels(), control.counts()["cuMemAllocFromPoolAsync"]
# One launch, for which its list of copies goes to the device.
assert (after[1] - before[1]) == 2
same_list(batch, images)
assert kernels() == before[0] + 1
assert batch.shape() == [(5, 7, 3), (3, 2, 3), (4, 9, 3)]
assert (len(batch), batch.ndim(), batch.layout()) == (3, 3, "HWC")
assert (batch.dtype, batch.device_id()) == (types.UINT8, 0)
assert not batch.is_dense_tensor()
assert batch[1].data_ptr() == batch.data_ptr() + images[0].nbytes
shared = TensorListGPU(sources, None, False)
assert [tensor.data_ptr() for tensor in shared] == [source.pointer for source in sources]
same_list(shared, images)
named = TensorListGPU(list_of_tensors=list(shared), contiguous=False)
assert named[2].data_ptr() == sources[2].pointer
for given, error, message in (
    ([sources[0], DeviceArray(equal[0].copy())], errors.ArgumentTypeError, "one dtype"),
    (
        [TensorGPU(sources[0], "HWC"), TensorGPU(sources[1], "CHW")],
        errors.ArgumentTypeError,
        "one layout",
    ),
    ([images[0]], errors.ExchangeError, "Feed it to a pipeline"),
):
    with pytest.raises(error) as caught:
        TensorListGPU(given)
    assert message in str(caught.value), caught.value
