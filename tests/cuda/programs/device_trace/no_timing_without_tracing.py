"""No timing without tracing."""

import json
import sys

import dali_core
from tests.cuda import small_pipeline
from tests.cuda.programs.device_trace.traces import ALONE
from tests.cuda.simulated_driver import control

path = json.loads(sys.argv[1])
pipeline = small_pipeline.make(**ALONE)
with dali_core.trace(path):
    pipeline.run()
pipeline.run()
before = control.counts()
for _ in range(3):
    pipeline.run()
after = control.counts()
assert after["cuLaunchKernel"] > before["cuLaunchKernel"]
assert after["cuEventElapsedTime"] == before["cuEventElapsedTime"] > 0
pipeline.close()
del pipeline
assert not small_pipeline.left()
