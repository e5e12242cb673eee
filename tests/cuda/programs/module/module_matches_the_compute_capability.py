"""Module matches the compute capability."""

import json
import sys

chosen = json.loads(sys.argv[1])
from dali_core import cuda, errors
from dali_core._cuda import module
from tests.cuda.simulated_driver import control

cuda.Stream(0)
control.fail("cuModuleLoadDataEx", "CUDA_ERROR_FILE_NOT_FOUND")
try:
    module.load_kernel("copy_rows", 0)
except errors.CudaError as error:
    assert f"loading module copy.{chosen} must succeed" in str(error), error
else:
    raise AssertionError
module.load_kernel("copy_rows", 0)
