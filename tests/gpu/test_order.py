"""Device memory is used in the right order, without synchronizing with the device."""

from __future__ import annotations

import ctypes
import threading

import numpy as np
import pytest

from dali_core import cuda
from tests.gpu.photos_on_device import BATCH_SIZE, NUM_BATCHES, expected, make

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_batches_are_those_of_the_host(depth: int) -> None:
    pipeline = make("gpu", prefetch_queue_depth=depth)
    for wanted in expected():
        np.testing.assert_array_equal(np.array(pipeline.run()[0].as_cpu().as_tensor()), wanted)
    pipeline.close()


def test_retained_batches_are_not_overwritten() -> None:
    pipeline = make("gpu")
    kept = [pipeline.run()[0] for _ in range(NUM_BATCHES)]
    pipeline.close()
    del pipeline
    for batch, wanted in zip(kept, expected(), strict=True):
        np.testing.assert_array_equal(np.array(batch.as_cpu().as_tensor()), wanted)


def test_copies_on_another_stream_wait_for_the_data() -> None:
    stream = cuda.Stream(0)
    pipeline = make("gpu")
    copies = []
    for _ in range(NUM_BATCHES):
        (batch,) = pipeline.run()
        copy = np.zeros((BATCH_SIZE, 3, 160, 160), np.float32)
        address = ctypes.c_void_p(copy.ctypes.data)
        batch.copy_to_external(address, cuda_stream=stream, non_blocking=True)
        copies.append(copy)
        del batch  # its memory may be reused by the next one, but not before the copy
    stream.synchronize()
    for copy, wanted in zip(copies, expected(), strict=True):
        np.testing.assert_array_equal(copy, wanted)
    pipeline.close()


def test_several_pipelines_in_several_threads() -> None:
    failures = []

    def work() -> None:
        pipeline = make("gpu")
        for wanted in expected():
            result = np.array(pipeline.run()[0].as_cpu().as_tensor())
            if not np.array_equal(result, wanted):
                failures.append(wanted)
        pipeline.close()

    expected()
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_every_device() -> None:
    pipelines = [make("gpu", device_id=number) for number in range(cuda.device_count())]
    for wanted in expected():
        for number, pipeline in enumerate(pipelines):
            (batch,) = pipeline.run()
            assert batch.device_id() == number
            np.testing.assert_array_equal(np.array(batch.as_cpu().as_tensor()), wanted)
    for pipeline in pipelines:
        pipeline.close()
