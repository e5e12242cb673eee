"""Tracing without timed events."""

import json
import sys

import dali_core
from tests.cuda import small_pipeline
from tests.cuda.programs.device_trace.traces import of_device
from tests.cuda.simulated_driver import control

path = json.loads(sys.argv[1])
pipeline = small_pipeline.make()
assert small_pipeline.is_right(pipeline.run(), 0)
control.fail("cuEventElapsedTime", "CUDA_ERROR_UNKNOWN", times=1000)
with dali_core.trace(path):
    assert small_pipeline.is_right(pipeline.run(), 1)
of_device(path)
assert small_pipeline.is_right(pipeline.run(), 2)
