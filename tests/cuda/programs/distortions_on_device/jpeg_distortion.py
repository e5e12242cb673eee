"""Jpeg distortion."""

import numpy as np

from dali_core import fn
from tests.cuda.programs.host_and_device import compare, fed, made

shapes = [(1, 1), (2, 5), (3, 4), (9, 6), (16, 16), (17, 31), (50, 3), (33, 48), (0, 7)]
qualities = [np.int32(x) for x in (1, 10, 49, 50, 75, 96, 100, 30, 60)]
(found,) = compare(
    lambda image: fn.jpeg_compression_distortion(image, quality=fed(qualities, None)),
    [made([(*shape, 3) for shape in shapes])],
    "HWC",
)
assert (found[7] != made([(*shape, 3) for shape in shapes])[7]).any()
compare(
    lambda clip: fn.jpeg_compression_distortion(clip, quality=20),
    [made([(3, 20, 9, 3), (1, 8, 8, 3)])],
    "FHWC",
)
