"""Other devices continue."""

from dali_core.errors import DaliCoreError
from tests.cuda.simulated_driver import control
from tests.cuda.small_pipeline import is_right, make

pipelines = [make(device_id=number) for number in range(2)]
for pipeline in pipelines:
    assert is_right(pipeline.run(), 0)
control.fail("kernel", "CUDA_ERROR_LAUNCH_FAILED")
failed = 0
for number in range(1, 6):
    try:
        assert is_right(pipelines[1].run(), number)
    except DaliCoreError as error:
        assert "CUDA_ERROR_LAUNCH_FAILED" in str(error)
        failed += 1
assert failed
for number in range(1, 6):
    assert is_right(pipelines[0].run(), number)
