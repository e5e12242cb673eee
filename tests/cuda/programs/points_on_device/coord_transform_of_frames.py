"""Coord transform of frames."""

import numpy as np

from dali_core import fn, types
from tests.cuda.programs.host_and_device import compare, made

points = made([(3, 40, 2), (1, 7, 2), (3, 0, 2)], "float32")
matrices = [np.float32(np.random.default_rng(i).random((n, 3, 2))) for i, n in enumerate((3, 4, 1))]
for dtype in (types.FLOAT, types.UINT8, types.INT64):
    compare(
        lambda x: fn.coord_transform(
            x, M=fn.per_frame(fn.external_source(lambda: matrices)), T=[1.5, 2, 3], dtype=dtype
        ),
        [points],
        "FNC",
    )
