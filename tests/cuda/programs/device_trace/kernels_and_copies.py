"""Kernels and copies."""

import json
import sys
import time
from itertools import pairwise

import dali_core
from tests.cuda import small_pipeline
from tests.cuda.programs.device_trace.traces import ALONE, of_device
from tests.cuda.simulated_driver import control

path = json.loads(sys.argv[1])
pipeline = small_pipeline.make(**ALONE)
assert small_pipeline.is_right(pipeline.run(), 0)
launches, before = control.counts()["cuLaunchKernel"], time.time()
with dali_core.trace(path):
    for number in range(1, 4):
        assert small_pipeline.is_right(pipeline.run(), number)
    pipeline.close()
after = time.time()
found = of_device(path)
kernels = [event for event in found if event["cat"] == "kernel"]
copies = [event for event in found if event["cat"] == "transfer"]
assert len(kernels) == control.counts()["cuLaunchKernel"] - launches, kernels
assert all(event["name"] and "bytes" not in event["args"] for event in kernels)
assert {event["name"] for event in copies} == {"copy to the device", "copy from the device"}
assert {event["args"]["batch"] for event in found} == {1, 2, 3}
spans = sorted((event["ts"], event["ts"] + event["dur"]) for event in found)
assert before - 1 <= spans[0][0] / 1e6
assert spans[-1][1] / 1e6 <= after + 1
# The stream does one thing at a time; times since 1970 are rounded.
assert all(begin >= end - 2 for (_, end), (begin, _) in pairwise(spans))
for number in (1, 2, 3):
    sizes = [
        sum(array.nbytes for array in small_pipeline.expected(number)[1])
        for event in copies
        if event["args"]["batch"] == number and event["name"] == "copy from the device"
    ]
    down = [
        event["args"]["bytes"]
        for event in copies
        if event["args"]["batch"] == number and event["name"] == "copy from the device"
    ]
    assert down == sizes, (down, sizes)
