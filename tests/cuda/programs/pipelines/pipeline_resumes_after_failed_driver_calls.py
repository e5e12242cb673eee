"""Pipeline resumes after failed driver calls."""

from dali_core import fn
from dali_core.errors import CudaError, SampleError
from tests.cuda.programs.pipelines.ragged_batches import batches, made
from tests.cuda.simulated_driver import control

pipeline = made(lambda: fn.external_source(source=batches).gpu().cpu())
pipeline.run(), pipeline.run(), pipeline.run()
failed = 0
for function in ("cuMemAllocFromPoolAsync", "cuMemAllocAsync", "cuMemcpyAsync", "cuEventRecord"):
    control.fail(function, "CUDA_ERROR_UNKNOWN", after=1)
    seen = False
    for number in range(6):
        try:
            pipeline.run()
        except SampleError as error:
            assert "CUDA_ERROR_UNKNOWN" in str(error), error
            assert isinstance(error.__cause__, CudaError), repr(error.__cause__)
            seen = True
    failed += seen
    control.fail(function, "CUDA_ERROR_UNKNOWN", times=0)
    (batch,) = pipeline.run()
    assert len(batch) == 5
assert failed >= 3, failed
pipeline.close()
