"""Statistics."""

from itertools import combinations

from dali_core import fn, types

R = fn.reductions
SUMS = (R.sum, R.mean, R.mean_square, R.rms)
# Lanes of all numbers, rows in fours and beyond, chunks of segments and segments of chunks, short
# runs, more columns than a block takes; extents of 1 and no elements.
SHAPES = (
    (7, 300, 3),
    (1, 1, 1),
    (260, 5),
    (1000,),
    (2, 33, 4, 5),
    (3, 40, 70),
    (2, 1, 1500),
    (140, 6, 3),
    (40, 2, 33),
    (3, 0, 4),
    (),
)


def every_axes(ndim):
    return [axes for count in range(ndim + 1) for axes in combinations(range(ndim), count)]


def deviation(x, **arguments):
    mean = R.mean(x, keep_dims=True, dtype=types.FLOAT64, axes=arguments["axes"])
    return R.variance(x, mean, **arguments), R.std_dev(x, 7, ddof=1, **arguments)
