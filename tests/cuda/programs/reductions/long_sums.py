"""Long sums."""

import numpy as np

from tests.cuda.programs.host_and_device import compare
from tests.cuda.programs.reductions.statistics import R, deviation

random = np.random.default_rng(3)
wide = random.standard_normal(150_003) * 10.0 ** random.integers(-6, 6, 150_003)
wide = wide.astype(np.float32)
samples = [wide, wide[:149_999], wide[:16_384], wide[:16_385]]


def reductions(x):
    return R.sum(x), *deviation(x, axes=[0]), R.max(x)


compare(reductions, [samples])
compare(reductions, [[(sample * 1e3).astype(np.int32) for sample in samples]])
images = [wide[: 3 * n * 50].reshape(n, 50, 3) for n in (999, 333)]
for axes in ([0, 1], [0], [1], [1, 2], [0, 2]):
    compare(lambda x: (R.sum(x, axes=axes), *deviation(x, axes=axes)), [images], "HWC")
bytes_ = [(sample * 7).astype(np.int64).astype(np.uint8) for sample in images]
compare(lambda x: (R.sum(x, axis_names="HW"), *deviation(x, axes=[0, 1])), [bytes_], "HWC")
