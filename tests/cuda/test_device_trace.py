"""Traces have the kernels and copies of a device, which are timed only while somebody traces."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cuda.simulated_driver import run_simulated

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")

# One batch at a time where calls are counted: none is computed meanwhile.
PRELUDE = """
import json, time
from itertools import pairwise
from pathlib import Path
import dali_core
from tests.cuda import small_pipeline
from tests.cuda.simulated_driver import control

ALONE = {"prefetch_queue_depth": 1, "exec_pipelined": False, "exec_async": False}

def of_device(path):
    events = json.loads(Path(path).read_text())["traceEvents"]
    (row,) = [
        (event["pid"], event["tid"]) for event in events
        if event["name"] == "thread_name" and event["args"]["name"].startswith("CUDA device 0, str")
    ]
    return [
        event for event in events
        if event["ph"] == "X" and (event["pid"], event["tid"]) == row
    ]
"""


def test_kernels_and_copies(tmp_path: Path) -> None:
    run_simulated(
        PRELUDE
        + f"""
pipeline = small_pipeline.make(**ALONE)
assert small_pipeline.is_right(pipeline.run(), 0)
path = {str(tmp_path / "run.json")!r}
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
assert {{event["name"] for event in copies}} == {{"copy to the device", "copy from the device"}}
assert {{event["args"]["batch"] for event in found}} == {{1, 2, 3}}
spans = sorted((event["ts"], event["ts"] + event["dur"]) for event in found)
assert before - 1 <= spans[0][0] / 1e6 and spans[-1][1] / 1e6 <= after + 1
# The stream does one thing at a time; times since 1970 are rounded.
assert all(begin >= end - 2 for (_, end), (begin, _) in pairwise(spans))
for number in (1, 2, 3):
    sizes = [
        sum(array.nbytes for array in small_pipeline.expected(number)[1])
        for event in copies
        if event["args"]["batch"] == number and event["name"] == "copy from the device"
    ]
    down = [
        event["args"]["bytes"] for event in copies
        if event["args"]["batch"] == number and event["name"] == "copy from the device"
    ]
    assert down == sizes, (down, sizes)
"""
    )


def test_no_timing_without_tracing(tmp_path: Path) -> None:
    run_simulated(
        PRELUDE
        + f"""
pipeline = small_pipeline.make(**ALONE)
with dali_core.trace({str(tmp_path / "run.json")!r}):
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
"""
    )


def test_tracing_without_timed_events(tmp_path: Path) -> None:
    run_simulated(
        PRELUDE
        + f"""
path = {str(tmp_path / "run.json")!r}
pipeline = small_pipeline.make()
assert small_pipeline.is_right(pipeline.run(), 0)
control.fail("cuEventElapsedTime", "CUDA_ERROR_UNKNOWN", times=1000)
with dali_core.trace(path):
    assert small_pipeline.is_right(pipeline.run(), 1)
of_device(path)
assert small_pipeline.is_right(pipeline.run(), 2)
"""
    )
