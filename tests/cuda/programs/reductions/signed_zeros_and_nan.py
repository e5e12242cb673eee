"""Signed zeros and nan."""

import numpy as np

from tests.cuda.programs.host_and_device import compare, outputs
from tests.cuda.programs.reductions.statistics import R, every_axes

random = np.random.default_rng(4)
for dtype in ("float16", "float32", "float64"):
    for shape in ((20_000,), (700, 3), (5, 6), (3, 900, 2)):
        samples = [
            random.choice(np.array(kinds, dtype), shape)
            for kinds in ([0.0, -0.0, np.nan], [np.nan, np.inf], [np.nan], [-0.0, 1.0, -np.inf])
        ]
        for axes in every_axes(len(shape)):
            found, _ = compare(lambda x: (R.min(x, axes=axes), R.max(x, axes=axes)), [samples])
            expected = outputs(lambda x: R.min(x, axes=axes), [samples], None, "cpu")[0][0]
            for one, other in zip(found, expected):
                np.testing.assert_array_equal(np.signbit(one), np.signbit(other))
