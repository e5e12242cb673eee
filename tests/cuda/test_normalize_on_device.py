"""Normalisation by statistics on a device is that of the host."""

from __future__ import annotations

import pytest

from tests.cuda.host_and_device import run

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")

PRELUDE = """
from itertools import combinations
from tests.operators.suite import ALL_TYPES, numbers
"""


def test_axes_and_types() -> None:
    """Runs of all kinds, groups across their ends, samples that begin anywhere, and no elements."""
    run(
        PRELUDE
        + """
number = 0
for shape in ((9, 11, 3), (3, 4, 7, 2), (2, 1, 190), (601,), (5, 2, 3, 2, 3), ()):
    every = [axes for count in range(1, len(shape) + 1)
             for axes in combinations(range(len(shape)), count)]
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
"""
    )


def test_given_mean_and_stddev() -> None:
    run(
        PRELUDE
        + """
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
"""
    )


def test_whole_batches() -> None:
    run(
        PRELUDE
        + """
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
"""
    )


def test_errors_equal_the_host() -> None:
    run(
        PRELUDE
        + """
for arguments, message in (
    ({"batch": True, "axes": [0]}, "must have the same extents in the whole batch"),
    ({"axes": [2]}, "axes must be from -2 to 1"),
    ({"axis_names": "X"}, "axis_names must be letters"),
):
    for device in ("cpu", "gpu"):
        try:
            outputs(lambda x: fn.normalize(x, **arguments), [made([(2, 3), (2, 4)])], "HW", device)
        except DaliCoreError as error:
            assert message in str(error), error
        else:
            raise AssertionError("nothing was raised")
"""
    )
