"""Axes and types."""

from itertools import combinations

from dali_core import fn, types
from tests.cuda.programs.host_and_device import compare, made
from tests.operators.suite import ALL_TYPES, numbers

number = 0
for shape in ((9, 11, 3), (3, 4, 7, 2), (2, 1, 190), (601,), (5, 2, 3, 2, 3), ()):
    every = [
        axes
        for count in range(1, len(shape) + 1)
        for axes in combinations(range(len(shape)), count)
    ]
    for axes in [None, *every]:
        arguments = {} if axes is None else {"axes": axes}

        def variants(x):
            return [
                fn.normalize(x, **arguments),
                fn.normalize(x, dtype=types.UINT8, scale=60, shift=128, ddof=1, **arguments),
                fn.normalize(x, dtype=types.FLOAT64, mean=3, epsilon=0.5, **arguments),
                fn.normalize(x, dtype=types.FLOAT16, stddev=2.5, **arguments),
            ]

        # Types that have kernels of their own come more often.
        dtype = ("uint8", "float32", "float16", *ALL_TYPES)[number % (len(ALL_TYPES) + 3)]
        number += 1
        one = numbers(dtype, shape, number)
        samples = [one, one[:1], one[:0], one[1:]] if shape else [one]
        compare(variants, [samples])
compare(lambda x: fn.normalize(x, axis_names="", shift=2), [made([(2, 5)])], "HW")
