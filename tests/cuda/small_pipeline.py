"""A small pipeline with all kinds of work on a device, and its results."""

from __future__ import annotations

import contextlib
import gc
from functools import cache

import numpy as np

from dali_core import Pipeline, fn, types
from tests.hanging import HANG_SECONDS
from tests.waiting import wait_until

BATCH_SIZE = 4
# Cached resources of the library, and unused memory.
KEPT = {"contexts", "events", "host_allocations", "host_bytes", "modules", "pools"}


def image_of(info: types.SampleInfo) -> np.ndarray:
    """Return an image; each has another size."""
    number = info.idx_in_epoch
    generator = np.random.default_rng(number)
    return generator.integers(0, 256, (9 + number % 5, 11 + number % 3, 3), np.uint8)


def make(device: str = "gpu", **options: object) -> Pipeline:
    """Move images to the device and back, compute with them, and normalise them."""
    device_id = 0 if device == "gpu" else None
    settings = {"batch_size": BATCH_SIZE, "num_threads": 2, "device_id": device_id, "seed": 5}
    pipeline = Pipeline(**settings | options)
    with pipeline:
        image = fn.external_source(source=image_of, batch=False, layout="HWC")
        there = image.gpu() if device == "gpu" else image
        mirrored = fn.flip(there, horizontal=fn.random.coin_flip(seed=3)) * 2
        normal = fn.crop_mirror_normalize(there, crop=(8, 8), mean=[100.0], std=[50.0])
        pipeline.set_outputs(normal, mirrored, mirrored.cpu() + 1)
    return pipeline


def arrays(batch: tuple) -> list[list[np.ndarray]]:
    """Copy a batch to the host."""
    return [[np.array(sample) for sample in tensors.as_cpu()] for tensors in batch]


@cache
def expected(number: int) -> list[list[np.ndarray]]:
    """Compute a batch on the host."""
    pipeline = make("cpu")
    try:
        for _ in range(number):
            pipeline.run()
        return [[np.array(sample) for sample in tensors] for tensors in pipeline.run()]
    finally:
        pipeline.close()


def is_right(batch: tuple, number: int) -> bool:
    """Return whether a batch equals that of the host."""
    return all(
        mine.dtype == wanted.dtype and np.array_equal(mine, wanted)
        for ours, theirs in zip(arrays(batch), expected(number), strict=True)
        for mine, wanted in zip(ours, theirs, strict=True)
    )


def left() -> dict[str, int]:
    """Return the number of live resources in the simulated driver, once threads are done.

    A pipeline that is closed does not wait for ever for a step of it that is running.
    """
    live: dict[str, int] = {}

    def is_nothing_live() -> bool:
        nonlocal live
        live = _live()
        return not live

    with contextlib.suppress(AssertionError):
        wait_until(is_nothing_live, seconds=HANG_SECONDS / 4)
    return live


def _live() -> dict[str, int]:
    from tests.cuda.simulated_driver import control

    gc.collect()
    counts = {name: count for name, count in control.live().items() if name not in KEPT}
    # One additional stream on each device copies between tensors and the host.
    counts["streams"] = max(0, counts["streams"] - counts["primary_context_retains"])
    del counts["primary_context_retains"]
    return {name: count for name, count in counts.items() if count}
