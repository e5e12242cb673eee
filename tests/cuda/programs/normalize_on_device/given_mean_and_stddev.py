"""Given mean and stddev."""

import numpy as np

from dali_core import fn, types
from tests.cuda.programs.host_and_device import compare
from tests.operators.suite import numbers

random = np.random.default_rng(2)
images = [numbers("uint8", (4 + i, 5, 3), i) for i in range(3)]
for shape in ((1, 1, 3), (3,), (1, 5, 1), (1, 1, 1), ()):
    given = [np.asarray(random.uniform(-9, 90, shape), np.float32) for _ in images]

    def variants(x):
        mean = fn.external_source(source=lambda: given)
        return [
            fn.normalize(x, mean=mean),
            fn.normalize(x, stddev=mean, dtype=types.INT16),
            fn.normalize(x, mean=mean, stddev=mean),
            fn.normalize(x, mean=mean, stddev=7.0),
        ]

    compare(variants, [images], "HWC")
