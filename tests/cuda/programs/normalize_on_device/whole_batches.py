"""Whole batches."""

from dali_core import fn
from tests.cuda.programs.host_and_device import compare
from tests.operators.suite import numbers

for dtype in ("uint8", "float32", "int32", "float16"):
    samples = [numbers(dtype, (height, 7, 3), height) for height in (4, 0, 9, 1)]
    for arguments in ({}, {"axes": [0, 1]}, {"axes": [0]}, {"axes": [0, 2]}):

        def variants(x):
            return [
                fn.normalize(x, batch=True, **arguments),
                fn.normalize(x, batch=True, ddof=1, mean=9, **arguments),
                fn.normalize(x, batch=True, stddev=9, **arguments),
            ]

        compare(variants, [samples], "HWC")
    compare(lambda x: fn.normalize(x, batch=True), [samples[:1]], "HWC")
