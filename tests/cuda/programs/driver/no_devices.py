"""No devices."""

from dali_core import cuda, errors

try:
    cuda.device_count()
except errors.CudaUnavailableError as error:
    assert error.status == "CUDA_ERROR_NO_DEVICE", error.status
    assert "CUDA_VISIBLE_DEVICES" in str(error)
else:
    raise AssertionError
