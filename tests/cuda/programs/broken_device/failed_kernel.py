"""Failed kernel."""

import json
import sys

where = json.loads(sys.argv[1])
is_sticky = json.loads(sys.argv[2])
from dali_core import cuda
from dali_core.errors import CudaError, DaliCoreError
from tests.cuda.simulated_driver import control
from tests.cuda.small_pipeline import arrays, is_right, make

pipeline = make()
kept = pipeline.run()
assert is_right(kept, 0)
control.fail(where, "CUDA_ERROR_ILLEGAL_ADDRESS", sticky=is_sticky)
said = []
for _ in range(6):
    try:
        arrays(pipeline.run())
        said.append("")
    except DaliCoreError as error:
        cause = error if isinstance(error, CudaError) else error.__cause__
        assert isinstance(cause, CudaError), repr(error)
        assert "CUDA_ERROR_ILLEGAL_ADDRESS" in str(cause)
        said.append(cause.status or "later")
        text = str(cause)
# The thread that queues work may be told first, before the batches that are asked for.
failed = [status for status in said if status]
assert said[-len(failed) :] == failed and len(failed) > 1, said
assert sorted(failed) == ["CUDA_ERROR_ILLEGAL_ADDRESS", *["later"] * (len(failed) - 1)], said
for attempt in (lambda: arrays(make().run()), lambda: arrays(kept), lambda: cuda.Stream(0)):
    try:
        attempt()
    except DaliCoreError as error:
        assert "CUDA_ERROR_ILLEGAL_ADDRESS" in str(error), error
    else:
        raise AssertionError("the device is broken")
pipeline.close()
print(text)
