"""Out of memory within a batch."""

from dali_core.errors import OutOfDeviceMemoryError, SampleError
from tests.cuda.simulated_driver import control
from tests.cuda.small_pipeline import is_right, left, make

texts = set()
for after in range(8):
    pipeline = make()
    assert is_right(pipeline.run(), 0)
    # Even after idle memory was given back.
    control.fail("cuMemAllocFromPoolAsync", "CUDA_ERROR_OUT_OF_MEMORY", after=after, times=4)
    failed = 0
    for number in range(1, 6):
        try:
            assert is_right(pipeline.run(), number)
        except SampleError as error:
            assert isinstance(error.__cause__, OutOfDeviceMemoryError), repr(error.__cause__)
            texts.add(str(error.__cause__))
            failed += 1
    control.reset()
    assert 1 <= failed <= 4, failed
    for number in range(6, 8):
        assert is_right(pipeline.run(), number)
    pipeline.close()
    del pipeline
    assert not left(), left()
print("\n".join(texts))
