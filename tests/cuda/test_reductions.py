"""Reductions on a device are those of the host."""

from __future__ import annotations

import pytest

from tests.cuda.host_and_device import run

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")

PRELUDE = """
from itertools import combinations
from tests.operators.suite import ALL_TYPES, numbers

R = fn.reductions
SUMS = (R.sum, R.mean, R.mean_square, R.rms)
# Lanes of all numbers, rows in fours and beyond, chunks of segments and segments of chunks, short
# runs, more columns than a block takes; extents of 1 and no elements.
SHAPES = (
    (7, 300, 3), (1, 1, 1), (260, 5), (1000,), (2, 33, 4, 5), (3, 40, 70), (2, 1, 1500),
    (140, 6, 3), (40, 2, 33), (3, 0, 4), (),
)

def every_axes(ndim):
    return [axes for count in range(ndim + 1) for axes in combinations(range(ndim), count)]

def deviation(x, **arguments):
    mean = R.mean(x, keep_dims=True, dtype=types.FLOAT64, axes=arguments["axes"])
    return R.variance(x, mean, **arguments), R.std_dev(x, 7, ddof=1, **arguments)
"""


def test_all_types_and_axes() -> None:
    run(
        PRELUDE
        + """
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
"""
    )


def test_output_types() -> None:
    run(
        PRELUDE
        + """
wanted = (types.UINT8, types.INT16, types.INT64, types.UINT64, types.FLOAT16, types.FLOAT64)
for dtype in ALL_TYPES:
    def reductions(x):
        return [
            f(x, axes=axes, dtype=kind) for f in SUMS for axes in ([0, 1], [2]) for kind in wanted
        ]
    compare(reductions, [[numbers(dtype, (9, 11, 3), 1)]])
"""
    )


def test_long_sums() -> None:
    """Several chunks for each of their lanes, in places that begin anywhere."""
    run(
        PRELUDE
        + """
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
"""
    )


def test_signed_zeros_and_nan() -> None:
    """Of equal zeros the first counts, and NaN is passed over."""
    run(
        PRELUDE
        + """
random = np.random.default_rng(4)
for dtype in ("float16", "float32", "float64"):
    for shape in ((20_000,), (700, 3), (5, 6), (3, 900, 2)):
        samples = [random.choice(np.array(kinds, dtype), shape) for kinds in (
            [0.0, -0.0, np.nan], [np.nan, np.inf], [np.nan], [-0.0, 1.0, -np.inf])]
        for axes in every_axes(len(shape)):
            found, _ = compare(lambda x: (R.min(x, axes=axes), R.max(x, axes=axes)), [samples])
            expected = outputs(lambda x: R.min(x, axes=axes), [samples], None, "cpu")[0][0]
            for one, other in zip(found, expected):
                np.testing.assert_array_equal(np.signbit(one), np.signbit(other))
"""
    )


def test_rejects_means_of_wrong_shape() -> None:
    run(
        PRELUDE
        + """
image = numbers("uint8", (4, 5, 3), 1)
for device in ("cpu", "gpu"):
    for function, message in (
        (lambda x, m: R.std_dev(x, m, axes=[0]), "must be one number, or one for each of the 15"),
        (lambda x, m: R.sum(x, axes=[3]), "axes must be from -3 to 2"),
        (lambda x, m: R.max(x, axis_names="X"), "axis_names must be in the input's layout"),
    ):
        try:
            outputs(function, [[image], [np.float32([1, 2])]], None, device)
        except DaliCoreError as error:
            assert message in str(error), error
        else:
            raise AssertionError("nothing was raised")
"""
    )
