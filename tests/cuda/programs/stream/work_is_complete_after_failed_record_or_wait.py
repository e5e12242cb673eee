"""Work is complete after failed record or wait."""

import pytest

from dali_core import cuda
from dali_core._cuda import memory
from dali_core.errors import CudaError
from tests.cuda.simulated_driver import control

stream = cuda.Stream(0)
block = memory.Buffer(stream, 8)
kept = stream.record()  # the next event is not created, but taken again
control.set_delay(0.05)
for function in ("cuEventCreate", "cuEventRecord", "cuEventSynchronize"):
    for _ in range(4):
        memory.copy_pointers(block.pointer, block.pointer + 4, 4, stream)
    control.fail(function, "CUDA_ERROR_UNKNOWN")
    with pytest.raises(CudaError, match="CUDA_ERROR_UNKNOWN"):
        stream.record().synchronize()
    assert stream.is_idle(), function
