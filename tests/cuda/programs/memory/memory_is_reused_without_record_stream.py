"""Memory is reused without record stream."""

from dali_core import errors
from tests.cuda.programs.memory.consumers import old, slow, what_is_read

try:
    assert what_is_read(0, [slow]) != [old.raw]
except errors.CudaError as error:
    assert error.status == "CUDA_ERROR_ILLEGAL_ADDRESS"
