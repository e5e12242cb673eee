"""Augmented."""

import numpy as np

from dali_core import fn, pipeline_def
from dali_core.auto_aug import augmentations
from dali_core.auto_aug.core import signed_bin

IMAGES = [np.random.default_rng(i).integers(0, 256, (8 + i, 9, 3), np.uint8) for i in range(4)]


@pipeline_def(batch_size=4, num_threads=2, device_id=0, seed=1)
def transformed(names):
    image = fn.external_source(lambda: IMAGES, layout="HWC")
    numbers = fn.external_source(lambda: [np.int32(i) for i in (0, 1, 3, 4)])
    signed = signed_bin(numbers)
    return tuple(
        getattr(augmentations, name)(place, magnitude_bin=signed, num_magnitude_bins=5)
        for name in names
        for place in (image, image.gpu())
    )


def outputs(*names):
    pipeline = transformed(names)
    return [[np.array(sample) for sample in batch.as_cpu()] for batch in pipeline.run()]
