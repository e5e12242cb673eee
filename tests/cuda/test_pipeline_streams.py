"""Outputs of pipelines on a device, and the streams of their consumers."""

from __future__ import annotations

import numpy
import pytest

from dali_core import Pipeline, fn
from tests.cuda.simulated_driver import run_simulated

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")

PRELUDE = """
import gc, itertools, os, sys
import numpy as np
from dali_core import Pipeline, fn, types
from dali_core.errors import *
from dali_core.tensors import TensorGPU, TensorListCPU, TensorListGPU
from tests.cuda.other_library import DeviceArray, Interface, Reading, new_stream
from tests.cuda.simulated_driver import control
from tests.waiting import wait_until

def expected(number):
    return np.arange(24, dtype=np.int32).reshape(4, 6) + 100 * number

def made(outputs, **options):
    pipeline = Pipeline(**({"batch_size": 4, "num_threads": 1, "device_id": 0} | options))
    with pipeline:
        pipeline.set_outputs(*outputs())
    return pipeline

def numbered(**options):
    return [fn.external_source(source=expected, **options)]
"""


def run(program: str, **options: object) -> str:
    return run_simulated(PRELUDE + program, **options)  # type: ignore[arg-type]


def test_given_stream_waits_for_outputs() -> None:
    """Reading by address, in a stream passed to `run`; without it, the data is incomplete."""
    run(
        """
class Wrapped:
    def __init__(self, handle):
        self.cuda_stream = handle

handle = new_stream()
pipeline = made(lambda: numbered(device="gpu"), prefetch_queue_depth=1)
pipeline.build()
for number, stream in enumerate((handle, Wrapped(handle), None)):
    with control.held(pipeline.output_stream().handle):
        pipeline.schedule_run()
        take = pipeline.outputs if number else pipeline.share_outputs
        (batch,) = take(cuda_stream=stream)
        reading = Reading(batch.data_ptr(), expected(0), handle)
        pipeline.release_outputs()
        if stream is None:
            assert (reading.result() != expected(number)).any()
    if stream is not None:
        assert (reading.result() == expected(number)).all(), number
    # Nobody has said that this stream uses the batch: it has to be there until it has.
    batch.synchronize()
    assert (Reading(batch.data_ptr(), expected(0), handle).result() == expected(number)).all()
assert control.counts().get("cuStreamSynchronize", 0) == 6  # of the readings
"""
    )


def test_memory_is_kept_until_given_stream_has_read() -> None:
    run(
        """
handle = new_stream()
pipeline = made(lambda: numbered(device="gpu"))
readings = []
control.set_delay(0.05, handle)
for number in range(6):
    (batch,) = pipeline.run(handle)
    readings.append(Reading(batch.data_ptr(), expected(0), handle))
    del batch
for number, reading in enumerate(readings):
    assert (reading.result() == expected(number)).all(), number
"""
    )


def test_output_stream() -> None:
    run(
        """
from dali_core.cuda import Stream

low, high = (
    made(lambda: numbered(device="gpu"), default_cuda_stream_priority=priority)
    for priority in (0, -1)
)
assert (low.default_cuda_stream_priority, high.default_cuda_stream_priority) == (0, -1)
assert isinstance(low.output_stream(), Stream)
assert high.output_stream().priority < low.output_stream().priority
assert low.run()[0].stream is low.output_stream()
version, handle = low.output_stream().__cuda_stream__()
assert (version, handle) == (0, low.output_stream().handle)

back = made(lambda: [fn.external_source(source=expected).gpu().cpu()])
assert back.output_stream() is None
assert (np.asarray(back.run(new_stream())[0].as_tensor()) == expected(0)).all()

for wrong, error in (("stream", ArgumentTypeError), (new_stream(1), ArgumentValueError)):
    try:
        low.run(wrong)
    except error as caught:
        assert "Stream.wrap: stream must" in str(caught)
    else:
        raise AssertionError(wrong)
# The batch was not lost.
assert (np.asarray(low.run()[0].as_cpu().as_tensor()) == expected(1)).all()
""",
        devices=2,
    )


def test_statistics() -> None:
    run(
        """
import dali_core.cuda

def outputs():
    data = fn.external_source(source=expected, name="data")
    return [data.gpu() + 1]

pipeline = made(outputs, enable_memory_stats=True)
held = [pipeline.run()[0] for _ in range(3)]
statistics = pipeline.executor_statistics()
kinds = {name.partition("_")[0] for name in statistics}
assert kinds == {"CPU", "GPU"}, statistics
assert statistics["CPU_data"]["real_memory_size"] == [96]
assert all(entry["real_memory_size"] == [96] for entry in statistics.values()), statistics
used = dali_core.cuda.memory_stats(0)
assert used["reserved_bytes"] >= used["used_bytes"] >= 3 * 96
"""
    )


def test_host_pipeline_accepts_any_stream() -> None:
    pipeline = Pipeline(batch_size=2, num_threads=1)
    with pipeline:
        pipeline.set_outputs(fn.external_source(source=lambda: [[1], [2]]))
    assert pipeline.output_stream() is None
    for stream in (0, 12345):
        assert numpy.array(pipeline.run(stream)[0].as_array()).tolist() == [[1], [2]]
    pipeline.enable_api_check(False)
    pipeline.schedule_run()
    assert len(pipeline.outputs(cuda_stream=12345)[0]) == 2


def test_graph_capture_in_another_thread() -> None:
    """A program that trains by graphs captures them while batches are made ahead."""
    run(
        """
from cuda.bindings import driver as bindings
from dali_core import cuda
from tests.cuda import small_pipeline

for each in range(3):
    small_pipeline.expected(each)
with control.captured():
    pipeline = small_pipeline.make()
    for number in range(3):
        assert small_pipeline.is_right(pipeline.run(), number)
    pipeline.close()
    del pipeline
    cuda.release_unused_memory()
    # Only our calls are let through: those of the program are its own affair.
    mode = bindings.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    status, before = bindings.cuThreadExchangeStreamCaptureMode(mode)
    assert before == bindings.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
    bindings.cuThreadExchangeStreamCaptureMode(before)
assert not small_pipeline.left(), small_pipeline.left()
try:
    with control.captured():
        status, pointer = bindings.cuMemAlloc(8)
except AssertionError as error:
    assert status == bindings.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
    assert str(error) == "cuMemAlloc would have spoiled the capture"
else:
    raise RuntimeError("the simulated driver allows everything")
"""
    )
