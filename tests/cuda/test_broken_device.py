"""A device that has failed, or is out of memory."""

from __future__ import annotations

import pytest

from tests.cuda.simulated_driver import run_simulated

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


@pytest.mark.parametrize("delay", [0.0, 0.005])
@pytest.mark.parametrize("where", ["kernel", "cuLaunchKernel"])
def test_failed_kernel(where: str, delay: float) -> None:
    """The error is the driver's and states what to do; later calls raise it again."""
    output = run_simulated(
        f"""
from dali_core import cuda
from dali_core.errors import CudaError, DaliCoreError, SampleError
from tests.cuda.simulated_driver import control
from tests.cuda.small_pipeline import arrays, is_right, make

pipeline = make()
kept = pipeline.run()
assert is_right(kept, 0)
control.fail({where!r}, "CUDA_ERROR_ILLEGAL_ADDRESS", sticky={where != "kernel"})
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
assert said[-len(failed):] == failed and len(failed) > 1, said
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
""",
        delay=delay,
    )
    assert "process" in output.lower(), output


def test_other_devices_continue() -> None:
    run_simulated(
        """
from dali_core.errors import DaliCoreError
from tests.cuda.simulated_driver import control
from tests.cuda.small_pipeline import arrays, is_right, make

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
""",
        devices=2,
    )


def test_unused_memory_is_released_before_out_of_memory() -> None:
    run_simulated(
        """
import numpy as np
from dali_core import Pipeline, fn
from tests.cuda.simulated_driver import control

def run(size):
    pipeline = Pipeline(1, 1, 0, prefetch_queue_depth=1)
    with pipeline:
        data = fn.external_source(source=lambda: [np.full(size, 7, np.uint8)])
        pipeline.set_outputs(data.gpu())
    for _ in range(3):
        assert (np.array(pipeline.run()[0].as_cpu()[0]) == 7).all()
    pipeline.close()

for size in (12_000_000, 20_000_000, 7_000_000, 22_000_000, 12_000_000):
    run(size)
""",
        memory_limit=72_000_000,
    )


def test_out_of_memory_within_a_batch() -> None:
    """The batch's memory is released, the error states what to do, and the next ones are right."""
    output = run_simulated(
        """
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
print("\\n".join(texts))
"""
    )
    assert "memory" in output
