"""Pipelines that run partly on a device."""

from __future__ import annotations

import pytest

from dali_core import Pipeline, fn
from dali_core.errors import ArgumentValueError, CudaUnavailableError, GraphError
from tests.cuda.simulated_driver import run_simulated

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")

PRELUDE = """
import gc
import numpy as np
from dali_core import Pipeline, fn, types, pipeline_def
from dali_core.errors import CudaError, SampleError
from tests.cuda.simulated_driver import control
from tests.waiting import wait_until

def ragged(batch, dtype=np.uint8):
    random = np.random.default_rng(batch)
    return [random.integers(0, 200, (3 + i, 4 + batch % 3, 3)).astype(dtype) for i in range(5)]

def batches(**options):
    number = 0
    while True:
        yield ragged(number, **options)
        number += 1

def made(define, **options):
    options = {"batch_size": 5, "num_threads": 2, "device_id": 0, "seed": 3} | options
    pipeline = Pipeline(**options)
    with pipeline:
        outputs = define()
        pipeline.set_outputs(*(outputs if isinstance(outputs, tuple) else (outputs,)))
    return pipeline

def assert_same(batch, expected):
    batch = batch.as_cpu()
    assert len(batch) == len(expected), (len(batch), len(expected))
    for sample, wanted in zip(batch, expected):
        sample = np.array(sample)
        assert sample.dtype == wanted.dtype and sample.shape == wanted.shape
        assert (sample == wanted).all()

def left():
    # Besides what is kept for the next pipeline.
    gc.collect()
    kept = {"contexts", "events", "primary_context_retains", "modules", "pools", "host_allocations",
            "host_bytes"}
    return {what: count for what, count in control.live().items() if count and what not in kept}
"""


def run(program: str, **options: object) -> str:
    return run_simulated(PRELUDE + program, **options)  # type: ignore[arg-type]


def test_host_device_round_trip() -> None:
    run(
        """
def define():
    data = fn.external_source(source=batches, layout="HWC")
    there = data.gpu()
    return there.cpu(), there, data.gpu().cpu().gpu()

for options in ({}, {"exec_pipelined": False, "exec_async": False}, {"prefetch_queue_depth": 4}):
    pipeline = made(define, **options)
    for number in range(6):
        outputs = pipeline.run()
        assert [type(output).__name__ for output in outputs] == [
            "TensorListCPU", "TensorListGPU", "TensorListGPU"]
        for output in outputs:
            assert output.layout() == "HWC"
            assert_same(output, ragged(number))
    pipeline.close()
"""
    )


def test_outputs_are_not_overwritten() -> None:
    """With slow streams, every batch is kept and checked at the end."""
    run(
        """
pipeline = made(lambda: fn.external_source(source=batches).gpu())
kept = [pipeline.run()[0] for _ in range(8)]
pipeline.close()
del pipeline
for number, batch in enumerate(kept):
    assert_same(batch, ragged(number))
""",
        delay=0.002,
    )


def test_memory_and_streams_are_released() -> None:
    run(
        """
pipeline = made(lambda: fn.external_source(source=batches).gpu())
sizes = []
for number in range(80):
    pipeline.run()
    sizes.append(control.live()["allocations"])
# How many there are depends on how far the threads are; each batch needs at least one.
assert max(sizes) <= 20, sizes
batch = pipeline.run()
pipeline.close()
del pipeline
assert left(), "the batch is still there"
del batch
wait_until(lambda: not left(), left)
"""
    )


def test_steady_state_does_not_synchronize() -> None:
    """No call that synchronizes with the device, once there are blocks for what is in flight."""
    run(
        """
pipeline = made(lambda: fn.external_source(source=batches).gpu())
for number in range(4):
    pipeline.run()
before, wide = control.counts(), control.device_wide()
for number in range(200):
    pipeline.run()
after = control.counts()
made_now = {name: after[name] - before.get(name, 0) for name in after}
for name in ("cuCtxSynchronize", "cuMemAlloc", "cuMemFree", "cuMemcpy", "cuMemcpyHtoD",
             "cuMemcpyDtoH", "cuStreamSynchronize", "cuModuleLoadData", "cuMemFreeHost"):
    assert made_now.get(name, 0) == 0, (name, made_now[name])
# How many pinned blocks are in flight at once depends on how far the threads are, but it is bounded
# by the queue, and each batch needs at least five.
assert after["cuMemHostAlloc"] <= 60, after
wide["cuMemHostAlloc"] = after["cuMemHostAlloc"]
assert control.device_wide() == wide, (control.device_wide(), wide)
"""
    )


@pytest.mark.parametrize("batch_size", [3, 4, 5, 64])
def test_copies_of_a_batch(batch_size: int) -> None:
    """However many samples there are: their data, and the parameters of all kernels."""
    run(
        f"""
def samples(number):
    random = np.random.default_rng(number)
    return random.integers(0, 256, (1 + number % 7, 5 + number % 3, 3)).astype(np.uint8)

def source():
    batch = 0
    while True:
        yield [samples(batch + i) for i in range({batch_size})]
        batch += 1

def moved(**options):
    pipeline = Pipeline(
        batch_size={batch_size}, num_threads=2, device_id=0, prefetch_queue_depth=1,
        exec_pipelined=False, exec_async=False
    )
    with pipeline:
        # Copied by native code, so that each sample has memory of its own.
        there = fn.copy(fn.external_source(source=source)).gpu()
        pipeline.set_outputs(there, fn.copy(there).cpu())
    return pipeline

pipeline = moved()
for batch in range(4):
    before = control.counts().get("cuMemcpyAsync", 0)
    there, back = pipeline.run()
    copies = control.counts()["cuMemcpyAsync"] - before
    # Those of the samples there and back, or the list of what kernels gather; in two stages.
    assert copies <= (2 * {batch_size} if {batch_size} <= 4 else 2) + 2, copies
    wanted = [samples(batch + i) for i in range({batch_size})]
    before = control.counts()["cuMemcpyAsync"]
    assert_same(there, wanted)
    assert control.counts()["cuMemcpyAsync"] - before <= 4
    assert_same(back, wanted)
pipeline.close()
"""
    )


def test_branches_on_a_device() -> None:
    run(
        """
from tests.cuda.branching import branching

pipeline = branching(batch_size=5, num_threads=2, device_id=0)
for number in range(4):
    result, numbers = pipeline.run()
    assert type(result).__name__ == "TensorListGPU"
    for value, wanted in zip(result.as_cpu(), numbers, strict=True):
        wanted = np.array(wanted)
        assert np.array(value) == (wanted + 100 if wanted % 2 == 0 else wanted)
"""
    )


def test_pipeline_resumes_after_failed_driver_calls() -> None:
    """Any call of the driver fails: an error with its name, and the next batch is right."""
    run(
        """
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
"""
    )


def test_out_of_memory_fails_one_batch_only() -> None:
    run(
        """
def big():
    while True:
        size = yield_sizes.pop(0) if yield_sizes else 1000
        yield [np.full(size, 7, np.uint8) for _ in range(5)]

yield_sizes = [1000] * 3 + [4_000_000] + [1000] * 20
pipeline = made(lambda: fn.external_source(source=big).gpu(), prefetch_queue_depth=1)
results = []
for number in range(8):
    try:
        results.append(len(pipeline.run()[0].as_cpu()))
    except SampleError as error:
        assert isinstance(error.__cause__, MemoryError), repr(error.__cause__)
        results.append("full")
assert results.count("full") == 1 and results.count(5) == 7, results
""",
        memory_limit=12_000_000,
    )


def test_several_devices_in_one_process() -> None:
    run(
        """
pipelines = [
    made(lambda: fn.external_source(source=batches).gpu(), device_id=device)
    for device in range(8)
]
for number in range(3):
    outputs = [pipeline.run()[0] for pipeline in pipelines]
    assert [output.device_id() for output in outputs] == list(range(8))
    for output in outputs:
        assert_same(output, ragged(number))
""",
        devices=8,
    )


def test_without_a_driver() -> None:
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=0)
    with pipeline:
        pipeline.set_outputs(fn.external_source(source=lambda: [[1]]).gpu())
    with pytest.raises(CudaUnavailableError, match=r"DataNode\.gpu at .*test_pipelines"):
        pipeline.build()


def test_without_a_device() -> None:
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipeline:
        pipeline.set_outputs(fn.external_source(source=lambda: [[1]]).gpu())
    with pytest.raises(GraphError, match="must have a device"):
        pipeline.build()


def test_host_operators_reject_device_inputs() -> None:
    with Pipeline(batch_size=1, num_threads=1, device_id=0):
        data = fn.external_source(source=lambda: [[1]])
        there = data.gpu()
        assert (there.device, there.gpu() is there, there.shape().device) == ("gpu", True, "cpu")
        with pytest.raises(GraphError, match=r"fn\.dump_image at .* on the host.*\.cpu\(\)"):
            fn.dump_image(there)
        with pytest.raises(ArgumentValueError, match="device must be one of 'cpu'"):
            fn.dump_image(data, device="gpu")
        with pytest.raises(GraphError, match=r"input 0 must be on the host"):
            fn.python_function(there, function=lambda x: x)
        with pytest.raises(GraphError, match=r"argument 'horizontal' must be on the host"):
            fn.flip(data, horizontal=there)
