"""A pipeline with enough work on a device to reveal missing synchronization."""

from __future__ import annotations

from functools import cache

import numpy as np

from dali_core import Pipeline, fn, types

BATCH_SIZE = 16
NUM_BATCHES = 12


@cache
def photo(number: int) -> np.ndarray:
    """Return an image of a few hundred pixels per side, another one for each number below 8."""
    generator = np.random.default_rng(number)
    shape = (200 + 37 * (number % 5), 240 + 23 * (number % 3), 3)
    return generator.integers(0, 256, shape, np.uint8)


def _of(info: types.SampleInfo) -> np.ndarray:
    return photo(info.idx_in_epoch % 8)


def make(device: str, **options: object) -> Pipeline:
    """Crop, resize, mirror and normalise at random, on the host or on a device."""
    device_id = 0 if device == "gpu" else None
    settings = {"batch_size": BATCH_SIZE, "num_threads": 4, "device_id": device_id, "seed": 5}
    pipeline = Pipeline(**settings | options)
    with pipeline:
        image = fn.external_source(source=_of, batch=False, layout="HWC")
        image = image.gpu() if device == "gpu" else image
        image = fn.random_resized_crop(image, size=(160, 160), seed=1)
        image = fn.crop_mirror_normalize(
            image,
            mirror=fn.random.coin_flip(seed=2),
            mean=[120.0, 110.0, 100.0],
            std=[60.0, 61.0, 62.0],
            dtype=types.FLOAT,
            output_layout="CHW",
        )
        pipeline.set_outputs(image)
    return pipeline


@cache
def expected() -> list[np.ndarray]:
    """Compute the first batches on the host."""
    pipeline = make("cpu")
    try:
        return [np.array(pipeline.run()[0].as_tensor()) for _ in range(NUM_BATCHES)]
    finally:
        pipeline.close()
