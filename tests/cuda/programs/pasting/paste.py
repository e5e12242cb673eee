"""Paste."""

import numpy as np

from dali_core import fn
from tests.cuda.programs.host_and_device import compare, made

shapes = [(1, 1), (9, 40), (33, 17), (16, 64), (4, 6)]
for channels in range(1, 7):
    images = made([(*shape, channels) for shape in shapes])
    colour = [200, 100, 50, 25, 12, 6][:channels]
    ratios = [np.float32(x) for x in (1, 1.3, 2.5, 1.0, 4.5)]
    (canvases,) = compare(
        lambda image: fn.paste(
            image, ratio=fn.external_source(lambda: ratios), fill_value=colour, paste_x=0.3
        ),
        [images],
        "HWC",
    )
    assert canvases[2][0, 0].tolist() == colour
