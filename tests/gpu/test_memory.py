"""Device memory is reused, released, and may be exhausted."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from dali_core import Pipeline, cuda, fn
from dali_core.errors import SampleError
from tests.gpu.photos_on_device import make

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def _start_afresh() -> None:
    gc.collect()
    cuda.release_unused_memory()


def test_steady_state_does_not_allocate() -> None:
    pipeline = make("gpu")
    for _ in range(20):
        pipeline.run()
    before = cuda.memory_stats()
    for _ in range(100):
        pipeline.run()
    after = cuda.memory_stats()
    pipeline.close()
    assert after["reserved_high_bytes"] == before["reserved_high_bytes"]
    host = ("host_used_bytes", "host_idle_bytes")
    assert sum(after[name] for name in host) <= 1.5 * sum(before[name] for name in host)


def test_closed_pipelines_release_all_memory() -> None:
    before = cuda.memory_stats()
    for _ in range(20):
        pipeline = make("gpu")
        pipeline.run()
        pipeline.close()
        del pipeline
    gc.collect()
    cuda.release_unused_memory()
    after = cuda.memory_stats()
    assert (after["used_bytes"], after["host_used_bytes"]) == (
        before["used_bytes"],
        before["host_used_bytes"],
    )
    assert after["host_idle_bytes"] == 0


def test_too_large_a_batch_is_an_error_of_that_batch() -> None:
    sides = iter([8, 8, 500_000])  # 3 times 500,000 squared are 750 GB

    def side() -> list[np.ndarray]:
        return [np.float32([next(sides, 8)] * 2)]

    pipeline = Pipeline(1, 1, 0, prefetch_queue_depth=1)
    with pipeline:
        image = fn.external_source(source=lambda: [np.full((4, 4, 3), 9, np.uint8)], layout="HWC")
        pipeline.set_outputs(fn.resize(image.gpu(), size=fn.external_source(source=side)))
    outcomes = []
    for _ in range(6):
        try:
            outcomes.append(pipeline.run()[0].as_cpu().shape()[0])
        except SampleError as error:
            outcomes.append(type(error.__cause__).__name__)
    pipeline.close()
    assert outcomes == [(8, 8, 3)] * 2 + ["OutOfDeviceMemoryError"] + [(8, 8, 3)] * 3
