"""What a batch on a device costs: memory, contexts, copies; and where its samples lie."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cuda.simulated_driver import run_simulated

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")

PRELUDE = """
import numpy as np
from dali_core import Pipeline, cuda, fn, types
from tests.cuda.simulated_driver import control

SIZE = 16

def images(number):
    random = np.random.default_rng(number)
    shapes = random.integers(60, 140, (SIZE, 2))
    return [np.full((*shape, 3), number % 250, np.uint8) for shape in shapes]

def source():
    number = 0
    while True:
        yield images(number % 4)
        number += 1

def made(define, **options):
    options = {"batch_size": SIZE, "num_threads": 2, "device_id": 0, "seed": 3} | options
    options |= {"prefetch_queue_depth": 1, "exec_pipelined": False, "exec_async": False}
    pipeline = Pipeline(**options)
    with pipeline:
        # Copied by native code, so that each sample has memory of its own.
        pipeline.set_outputs(define(fn.copy(fn.external_source(source=source, layout="HWC"))))
    return pipeline

def random_crops(image):
    return fn.random_resized_crop(image.gpu(), size=(24, 20), antialias=True)

def random_windows(image):
    extents = [fn.random.uniform(range=[30, 60], dtype=types.INT32) for _ in range(2)]
    cropped = fn.crop(image.gpu(), crop_h=extents[0], crop_w=extents[1])
    return fn.resize(cropped, resize_x=extents[1] * 3)
"""


# What is allocated and asked of the driver does not depend on what kernels compute.
WITHOUT_KERNELS = {"DALI_CORE_SIMULATED_KERNELS": "0"}


def run(program: str, **options: Any) -> None:
    run_simulated(PRELUDE + program, **options)


def test_allocations_and_context_switches_of_a_batch() -> None:
    """Samples on the device, the result, and one block for parameters and what is between."""
    run(
        """
names = ("cuMemAllocFromPoolAsync", "cuCtxPushCurrent", "cuMemcpyAsync", "cuMemHostAlloc")
for define in (random_crops, random_windows):
    pipeline = made(define)
    counted = []
    for _ in range(20):
        before = control.counts()
        pipeline.run()
        after = control.counts()
        counted.append([after.get(name, 0) - before.get(name, 0) for name in names])
    # A block of pinned memory is entered for, too, until the pool has enough of them.
    costs = sorted(costs for *costs, pinned in counted[8:] if pinned == 0)
    assert len(costs) >= 8, counted
    # One batch may need more than all before it.
    assert costs[-2][0] <= 3, counted
    assert all(contexts <= 4 and copies == 1 for _, contexts, copies in costs), counted
    pipeline.close()
""",
        env=WITHOUT_KERNELS,
    )


def test_memory_is_bounded_for_varying_sizes() -> None:
    run(
        """
SIZE = 64
for define in (random_crops, random_windows):
    cuda.release_unused_memory()
    pipeline = made(define)
    sizes = []
    for number in range(24):
        used = pipeline.run()[0].shape()
        sizes.append(sum(np.prod(shape) for shape in used))
        if number == 8:
            before = cuda.memory_stats()["reserved_high_bytes"]
    assert len(set(sizes)) > 12 or define is random_crops, sizes
    assert cuda.memory_stats()["reserved_high_bytes"] == before
    pipeline.close()
""",
        env=WITHOUT_KERNELS,
    )


def test_ragged_samples_begin_aligned() -> None:
    """To 256 bytes, in one copy; whoever needs them without gaps gets that."""
    run(
        """
pipeline = made(lambda image: image.gpu())
for number in range(3):
    before = control.counts().get("cuMemcpyAsync", 0)
    (batch,) = pipeline.run()
    assert control.counts()["cuMemcpyAsync"] - before == 1
    wanted = images(number)
    addresses = [sample.data_ptr() for sample in batch]
    assert all(address % 256 == 0 for address in addresses)
    assert addresses == [s.__cuda_array_interface__["data"][0] for s in batch]
    for sample, expected in zip(batch.as_cpu(), wanted, strict=True):
        np.testing.assert_array_equal(np.array(sample), expected)
    together = batch.as_reshaped_tensor([sum(image.size for image in wanted)])
    flat = np.concatenate([image.ravel() for image in wanted])
    np.testing.assert_array_equal(np.array(together.as_cpu()), flat)
    # The samples have moved there, one after the other.
    assert batch.data_ptr() == together.data_ptr() == batch[0].data_ptr()
    assert batch[1].data_ptr() == batch[0].data_ptr() + wanted[0].size
pipeline.close()
"""
    )


def test_samples_of_one_shape_stay_contiguous() -> None:
    run(
        """
def images(number):
    return [np.full((5, 3, 3), number + i, np.uint8) for i in range(SIZE)]

pipeline = made(lambda image: fn.flip(image.gpu()))
(batch,) = pipeline.run()
before = control.counts()["cuMemAllocFromPoolAsync"]
whole = batch.as_tensor()
assert control.counts()["cuMemAllocFromPoolAsync"] == before
assert [sample.data_ptr() - whole.data_ptr() for sample in batch] == [45 * i for i in range(SIZE)]
np.testing.assert_array_equal(np.array(whole.as_cpu()), np.stack(images(0)))
pipeline.close()
"""
    )


def test_contiguous_ragged_batch_is_one_copy() -> None:
    run(
        """
from dali_core.tensors import TensorListCPU

lengths = [7, 300, 0, 5, 1000, 3]
def source():
    data = np.arange(sum(lengths), dtype=np.uint16)
    ends = np.cumsum(lengths)
    while True:
        yield [data[end - length:end] for length, end in zip(lengths, ends)]

pipeline = Pipeline(batch_size=len(lengths), num_threads=1, device_id=0, prefetch_queue_depth=1)
with pipeline:
    pipeline.set_outputs(fn.external_source(source=source, no_copy=True).gpu())
for _ in range(3):
    (batch,) = pipeline.run()
    assert all(s.data_ptr() % 256 == 0 for s, length in zip(batch, lengths) if length)
    for sample, expected in zip(batch.as_cpu(), next(source()), strict=True):
        np.testing.assert_array_equal(np.array(sample), expected)
pipeline.close()
"""
    )


@pytest.mark.parametrize("interpolation", ["NN", "LINEAR", "CUBIC", "LANCZOS3", "GAUSSIAN"])
def test_filter_taps_on_the_device_equal_the_host(interpolation: str) -> None:
    run(
        f"""
def both(image, **options):
    options |= dict(interp_type=types.INTERP_{interpolation}, seed=5)
    return [
        fn.random_resized_crop(there, size=(19, 31), **options)
        for there in (image.gpu(), image)
    ]

for dtype in (np.uint8, np.float32):
    for antialias in (False, True):
        pipeline = Pipeline(batch_size=SIZE, num_threads=2, device_id=0, prefetch_queue_depth=1)
        with pipeline:
            image = fn.cast(fn.external_source(source=source, layout="HWC"),
                            dtype=types.UINT8 if dtype == np.uint8 else types.FLOAT)
            noise = fn.noise.gaussian(image, stddev=40.0, seed=1)
            pipeline.set_outputs(*both(noise, antialias=antialias))
        on_device, on_host = pipeline.run()
        np.testing.assert_array_equal(on_device.as_cpu().as_array(), on_host.as_array())
        pipeline.close()
"""
    )


def test_devices_that_read_pageable_memory_late() -> None:
    """Batches, copies of samples that are apart, and unpickled ones are right on these, too."""
    run_simulated(
        PRELUDE
        + """
import copy, pickle
from dali_core.tensors import TensorListGPU

pipeline = made(lambda image: fn.flip(image.gpu()))
for number in range(4):
    (batch,) = pipeline.run()
    samples = list(batch)
    apart = TensorListGPU(samples[::-1], contiguous=False)
    together = TensorListGPU(samples[::-1])
    returned = pickle.loads(pickle.dumps(together))
    one = pickle.loads(pickle.dumps(samples[0]))
    for found in (apart, together, copy.deepcopy(apart), returned):
        for sample, expected in zip(found.as_cpu(), images(number)[::-1], strict=True):
            np.testing.assert_array_equal(np.array(sample), expected)
    np.testing.assert_array_equal(np.array(one.as_cpu()), images(number)[0])
pipeline.close()
""",
        env={"DALI_CORE_SIMULATED_HOST_PAGE_TABLES": "1"},
        delay=0.003,
    )


def test_default_pool_keeps_released_memory() -> None:
    run_simulated(
        """
        from cuda.bindings import driver
        from dali_core import cuda
        from dali_core._cuda import memory
        from tests.cuda.calls import done, use_device

        use_device(0)
        pool = done(driver.cuDeviceGetDefaultMemPool(0))
        threshold = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        reserved = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT
        stream = cuda.Stream(0)

        def is_kept() -> bool:
            block = done(driver.cuMemAllocAsync(1 << 20, stream.handle))
            done(driver.cuMemFreeAsync(block, stream.handle))
            stream.synchronize()
            return int(done(driver.cuMemPoolGetAttribute(pool, reserved))) > 0

        assert not is_kept()
        class Other:
            def allocate(self, nbytes, stream_handle):
                raise AssertionError

            def deallocate(self, pointer, nbytes, stream_handle):
                raise AssertionError

        cuda.set_allocator(Other())
        memory.retain_default_pool(0)
        assert not is_kept(), "memory is to be shared with another library"
        cuda.set_allocator(None)
        for _ in range(2):
            memory.retain_default_pool(0)
            assert is_kept()
        cuda.release_unused_memory(0)
        assert int(done(driver.cuMemPoolGetAttribute(pool, reserved))) == 0
        """
    )
