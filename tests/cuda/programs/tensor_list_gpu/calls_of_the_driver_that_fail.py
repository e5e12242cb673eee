"""Calls of the driver that fail."""

import pickle

import numpy
import pytest

from dali_core import errors
from dali_core.tensors import TensorListGPU
from tests.cuda.programs.tensor_gpu.tensors import DeviceArray, slow
from tests.cuda.programs.tensor_list_gpu.batches import images, same_list
from tests.cuda.simulated_driver import control

sources = [slow(image) for image in images]
target = DeviceArray(numpy.zeros(1000, "uint8"))
batch = TensorListGPU(sources, "HWC", False)
uses = {
    "as_cpu": lambda: batch.as_cpu(),
    "gathered": lambda: batch[:].data_ptr(),
    "copied": lambda: batch.copy_to_external(target.pointer),
    "exported": lambda: batch[0].__dlpack__(stream=target.stream),
    "copied and exported": lambda: batch[0].__dlpack__(stream=target.stream, copy=True),
    "imported": lambda: TensorListGPU(sources, "HWC", False),
    "pickled": lambda: pickle.loads(pickle.dumps(batch)),
}
for use in uses.values():
    use()
failed = set()
for function in (
    "cuMemAllocFromPoolAsync",
    "cuMemcpyAsync",
    "cuLaunchKernel",
    "cuStreamWaitEvent",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuStreamGetCtx",
    "cuPointerGetAttribute",
):
    for name, use in uses.items():
        # Only the last call, so that all others have been made.
        before = control.counts().get(function, 0)
        use()
        calls = control.counts().get(function, 0) - before
        if calls == 0:
            continue
        control.fail(function, "CUDA_ERROR_INVALID_VALUE", after=calls - 1)
        try:
            use()
        except errors.DaliCoreError as error:
            failed.add(function)
            assert isinstance(error, errors.CudaError), (function, name, error)
        control.fail(function, "CUDA_ERROR_INVALID_VALUE", times=0)
        same_list(batch, images)
assert len(failed) == 8, failed
control.fail("cuMemAllocFromPoolAsync", "CUDA_ERROR_OUT_OF_MEMORY", times=9)
with pytest.raises(errors.OutOfDeviceMemoryError, match="must be left"):
    batch[:].as_reshaped_tensor([sum(image.size for image in images)])
control.fail("cuMemAllocFromPoolAsync", "CUDA_ERROR_OUT_OF_MEMORY", times=0)
same_list(batch[:], images)
