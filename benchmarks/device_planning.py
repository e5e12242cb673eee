"""Measure what a batch on a device costs the host: ``python -m benchmarks.device_planning``.

The time that the thread of steps spends on a batch of random crops of images, which are resized:
planning, memory, and calls of the driver. It needs a device, or the simulated driver of the tests
with kernels that do nothing::

    python -m tests.cuda.simulated_driver.build
    DALI_CORE_SIMULATED_KERNELS=0 LD_LIBRARY_PATH=build/simulated_driver \\
        python -m benchmarks.device_planning
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy

from dali_core import Pipeline, fn, types
from dali_core._execution.device_stages import DeviceStages

from .kernels_on_device import device_description
from .peers.photo_settings import MEAN, STANDARD_DEVIATION
from .summary import quartiles

SHAPE = (375, 500, 1)


def _resized(image: Any) -> Any:
    return fn.random_resized_crop(image, size=224, seed=1)


def _antialiased(image: Any) -> Any:
    return fn.random_resized_crop(image, size=224, antialias=True, seed=1)


def _normalised(image: Any) -> Any:
    return fn.crop_mirror_normalize(
        fn.random_resized_crop(image, size=224, seed=1),
        dtype=types.FLOAT,
        mean=[MEAN[0]],
        std=[STANDARD_DEVIATION[0]],
        output_layout="CHW",
        mirror=fn.random.coin_flip(seed=2),
    )


def _flipped(image: Any) -> Any:
    return fn.flip(image, horizontal=fn.random.coin_flip(seed=2))


CASES = {
    "random crop and resize": _resized,
    "the same, antialias": _antialiased,
    "random crop, resize, normalise": _normalised,
    "flip": _flipped,
}


def milliseconds(define: Callable[[Any], Any], batch_size: int, batches: int) -> list[float]:
    """Return the processor time of each batch in the thread of steps."""
    times = []
    run = DeviceStages.run

    def timed(self: DeviceStages, task: Any) -> None:
        begin = time.thread_time()
        run(self, task)
        times.append((time.thread_time() - begin) * 1e3)

    image = numpy.random.default_rng(0).integers(0, 256, SHAPE).astype(numpy.uint8)
    pipeline = Pipeline(batch_size=batch_size, num_threads=2, device_id=0, prefetch_queue_depth=1)
    with pipeline:
        images = fn.external_source(source=lambda: [image] * batch_size, layout="HWC")
        pipeline.set_outputs(define(images.gpu()))
    DeviceStages.run = timed  # type: ignore[method-assign]
    try:
        for _ in range(batches):
            pipeline.run()
    finally:
        DeviceStages.run = run  # type: ignore[method-assign]
        pipeline.close()
    return times[batches // 4 :]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.device_planning")
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--batches", type=int, default=20)
    arguments = parser.parse_args()
    print(*device_description(), sep=", ")
    for name, define in CASES.items():
        spread = quartiles(milliseconds(define, arguments.batch_size, arguments.batches))
        print(f"{name:32} {spread.median:7.3f} ms ({spread.low:.3f} to {spread.high:.3f})")


if __name__ == "__main__":
    main()
