"""Windows equal the host."""

import numpy as np

from dali_core import fn
from tests.cuda import image_codec
from tests.cuda.programs.image_codec.files import compare

image_codec.refused |= {2, 3}
crops = [
    {"crop": (30, 20)},
    {"crop_h": 25, "crop_w": 21, "crop_pos_x": 0.3, "crop_pos_y": 1.0, "rounding": "truncate"},
    {},
]
for options in crops:
    compare(lambda data, device: fn.decoders.image_crop(data, device=device, **options))


def at_random(data, device):
    return fn.decoders.image_crop(
        data, device=device, crop=(30, 20), crop_pos_x=fn.random.uniform(range=(0, 1), seed=3)
    )


compare(at_random)

slices = [
    {"start": (3, 5), "shape": (11, 17)},
    {"rel_start": (0.25, 0.5), "rel_end": (0.75, 1.0), "axis_names": "HW"},
    {"end": 13, "axes": [0]},
]
for options in slices:
    compare(lambda data, device: fn.decoders.image_slice(data, device=device, **options))
num_decoders = len(image_codec.decoders)
assert num_decoders == 7
compare(
    lambda data, device: fn.decoders.image_slice(
        data, np.float32([0.1, 0.2]), np.float32([0.5, 0.5]), device=device
    )
)
for options in ({}, {"seed": 11, "random_area": (0.2, 0.5)}):
    compare(lambda data, device: fn.decoders.image_random_crop(data, device=device, **options))

# Here axes of images and of files mean different things.
num_decoders = len(image_codec.decoders)
compare(lambda data, device: fn.decoders.image_slice(data, device=device, end=13, axes=[-2]), 0)
assert len(image_codec.decoders) == num_decoders
