"""Output types."""

from dali_core import types
from tests.cuda.programs.host_and_device import compare
from tests.cuda.programs.reductions.statistics import SUMS
from tests.operators.suite import ALL_TYPES, numbers

wanted = (types.UINT8, types.INT16, types.INT64, types.UINT64, types.FLOAT16, types.FLOAT64)
for dtype in ALL_TYPES:

    def reductions(x):
        return [
            f(x, axes=axes, dtype=kind) for f in SUMS for axes in ([0, 1], [2]) for kind in wanted
        ]

    compare(reductions, [[numbers(dtype, (9, 11, 3), 1)]])
