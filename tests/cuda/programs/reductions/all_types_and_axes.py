"""All types and axes."""

from tests.cuda.programs.host_and_device import compare
from tests.cuda.programs.reductions.statistics import SHAPES, SUMS, R, deviation, every_axes
from tests.operators.suite import ALL_TYPES, numbers

number = 0
for shape in SHAPES:
    for axes in every_axes(len(shape)):
        # Types that have kernels of their own come more often.
        dtype = ("uint8", "float32", "int16", *ALL_TYPES)[number % (len(ALL_TYPES) + 3)]
        number += 1
        one = numbers(dtype, shape, number)
        samples = [one, one[:1], one[:0]] if shape else [one]

        def reductions(x):
            least = R.min(x, axes=axes), R.max(x, axes=axes, keep_dims=True)
            return *least, *deviation(x, axes=axes), *(f(x, axes=axes) for f in SUMS)

        compare(reductions, [samples])
