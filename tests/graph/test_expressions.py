"""Expressions: results equal NumPy's in the promoted dtype."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dali_core.math
from dali_core import DataNode, types
from tests.graph.computing import ALL_TYPES, compute, compute_batch, numbers, run

SIGNED = {1: "int8", 2: "int16", 4: "int32", 8: "int64"}
ARITHMETIC = {"add": np.add, "sub": np.subtract, "mul": np.multiply}
EXTREMES = {
    "min": lambda a, b: np.where(a < b, a, b),
    "max": lambda a, b: np.where(a > b, a, b),
}
BITWISE = {"and_": np.bitwise_and, "or_": np.bitwise_or, "xor": np.bitwise_xor}
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def common_type(one: str, other: str) -> np.dtype:
    """Return the dtype in which two operands are computed."""
    a, b = np.dtype(one), np.dtype(other)
    if a == b or b.kind == "b":
        return a
    if a.kind == "b":
        return b
    if "f" in (a.kind, b.kind):
        floats = [dtype for dtype in (a, b) if dtype.kind == "f"]
        return max(floats, key=lambda dtype: dtype.itemsize)
    if a.kind == b.kind:
        return max(a, b, key=lambda dtype: dtype.itemsize)
    with_sign, without = (a, b) if a.kind == "i" else (b, a)
    if with_sign.itemsize > without.itemsize:
        return with_sign
    return np.dtype(SIGNED[min(8, 2 * without.itemsize)])


def widened(dtype: np.dtype) -> np.dtype:
    return np.dtype("float32") if dtype == np.float16 else dtype


def computed(function: Callable[..., Any], dtype: np.dtype, *operands: np.ndarray) -> np.ndarray:
    """Compute with NumPy, 16-bit floats in single precision."""
    with np.errstate(all="ignore"):
        converted = [operand.astype(widened(dtype)) for operand in operands]
        return np.asarray(function(*converted)).astype(dtype)


@st.composite
def broadcast_shapes(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    full = draw(st.lists(st.sampled_from([0, 1, 2, 3, 5, 70]), max_size=3))
    shapes = []
    for _ in range(2):
        kept = [draw(st.sampled_from([extent, 1])) for extent in full]
        shapes.append(tuple(kept[draw(st.integers(0, len(kept))) :]))
    return shapes[0], shapes[1]


@given(
    st.sampled_from(ALL_TYPES),
    st.sampled_from(ALL_TYPES),
    broadcast_shapes(),
    st.integers(0, 2**32),
)
@settings(max_examples=60)
def test_operators_are_those_of_numpy(
    one: str, other: str, shapes: tuple[tuple[int, ...], tuple[int, ...]], seed: int
) -> None:
    a, b = numbers(one, shapes[0], seed), numbers(other, shapes[1], seed + 1)
    dtype = common_type(one, other)
    are_numbers = dtype.kind != "b"

    def build(x: DataNode, y: DataNode) -> list[DataNode]:
        names = ["mul", *(["add", "sub"] if are_numbers else [])]
        results = [getattr(operator, name)(x, y) for name in (*names, *COMPARISONS)]
        if dtype.kind != "f":
            results += [getattr(operator, name)(x, y) for name in BITWISE]
        if are_numbers:
            results += [getattr(dali_core.math, name)(x, y) for name in EXTREMES]
        return results

    results = iter(compute(build, a, b))
    for name in ["mul", *(["add", "sub"] if are_numbers else [])]:
        expected = computed(ARITHMETIC[name], dtype, a, b)
        np.testing.assert_array_equal(next(results), expected, strict=True)
    for name in COMPARISONS:
        exact = (
            (a, b) if dtype.kind != "f" else (a.astype(widened(dtype)), b.astype(widened(dtype)))
        )
        expected = getattr(operator, name)(exact[0].astype(object), exact[1].astype(object))
        np.testing.assert_array_equal(next(results), np.asarray(expected, bool), strict=True)
    for name in BITWISE if dtype.kind != "f" else ():
        expected = computed(BITWISE[name], dtype, a, b)
        np.testing.assert_array_equal(next(results), expected, strict=True)
    for name in EXTREMES if are_numbers else ():
        expected = computed(EXTREMES[name], dtype, a, b)
        np.testing.assert_array_equal(next(results), expected, strict=True)


@pytest.mark.parametrize("dtype", [name for name in ALL_TYPES if "int" in name])
def test_integer_division_truncates_and_wraps(dtype: str) -> None:
    a, b = numbers(dtype, (500,), 1), numbers(dtype, (500,), 2)
    limits = np.iinfo(dtype)
    a[:3], b[:3] = (limits.min, limits.min, limits.max), (limits.max, 1, limits.max)
    b[b == 0] = 7
    if limits.min:
        a[3], b[3] = limits.min, -1
    quotient, remainder = compute(lambda x, y: [x // y, x % y], a, b)
    exact = [
        abs(int(i)) // abs(int(j)) * (-1 if (i < 0) != (j < 0) else 1)
        for i, j in zip(a, b, strict=True)
    ]
    rest = [int(i) - int(j) * q for i, j, q in zip(a, b, exact, strict=True)]
    bits = 8 * limits.dtype.itemsize
    wrapped = [(q - limits.min) % 2**bits + limits.min for q in exact]
    np.testing.assert_array_equal(quotient, np.array(wrapped, dtype), strict=True)
    np.testing.assert_array_equal(remainder, np.array(rest, dtype), strict=True)


def truncated(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return quotients and remainders of 64-bit integers, rounded towards zero."""
    quotient = np.abs(a) // np.abs(b) * np.sign(a) * np.sign(b)
    return quotient, a - quotient * b


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_all_quotients_of_bytes(dtype: str) -> None:
    limits = np.iinfo(dtype)
    values = np.arange(limits.min, limits.max + 1).astype(dtype)
    a, b = values[:, None], values[values != 0]
    results = compute(lambda x, y: [x // y, x % y], a, b)
    for result, expected in zip(
        results, truncated(a.astype("int64"), b.astype("int64")), strict=True
    ):
        np.testing.assert_array_equal(result, expected.astype(dtype), strict=True)


@pytest.mark.parametrize("dtype", ["uint16", "int16", "uint32", "int32"])
def test_quotients_next_to_whole_numbers(dtype: str) -> None:
    limits = np.iinfo(dtype)
    generator = np.random.default_rng(5)
    b = generator.integers(1, limits.max, 3000) >> generator.integers(
        0, 8 * limits.dtype.itemsize, 3000
    )
    b = np.maximum(b, 1)
    # Multiples of the divisor, and their neighbours.
    a = generator.integers(0, limits.max // b, endpoint=True) * b + generator.integers(-1, 2, 3000)
    a = np.clip(a, limits.min, limits.max)
    sign = -1 if limits.min else 1
    for one, other in ((a, b), (a * sign, b), (a, b * sign)):
        results = compute(lambda x, y: [x // y, x % y], one.astype(dtype), other.astype(dtype))
        for result, expected in zip(results, truncated(one, other), strict=True):
            np.testing.assert_array_equal(result, expected.astype(dtype), strict=True)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "uint32", "int32", "uint64", "int64"])
def test_shifts(dtype: str) -> None:
    a, distance = numbers(dtype, (300,), 3), np.arange(300).astype(dtype)
    left, right = compute(lambda x, y: [x << y, x >> y], a, distance)
    bits = 64 if "64" in dtype else 32
    steps = [int(step) % bits for step in distance]
    shifted = [int(value) << step for value, step in zip(a, steps, strict=True)]
    modulus = 2 ** (8 * np.dtype(dtype).itemsize)
    expected = (
        np.array([value % 2**bits != 0 for value in shifted])
        if dtype == "bool"
        else np.array([value % modulus for value in shifted], dtype=np.uint64).astype(dtype)
    )
    np.testing.assert_array_equal(left, expected, strict=True)
    expected = np.array([int(value) >> step for value, step in zip(a, steps, strict=True)], dtype)
    np.testing.assert_array_equal(right, expected, strict=True)


def test_powers_of_integers() -> None:
    base = np.array([-3, -1, 0, 1, 2, 2, 7], np.int32)
    exponent = np.array([3, -5, -1, -2, 31, 32, 11], np.int32)
    (result,) = compute(lambda x, y: [x**y], base, exponent)
    np.testing.assert_array_equal(result, np.int32([-27, 0, 0, 0, -(2**31), 0, 7**11]), strict=True)


FUNCTIONS = [
    *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh"),
    *("arccosh", "arctanh", "exp", "log", "log2", "log10", "sqrt", "cbrt", "floor", "ceil"),
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    own = getattr(dali_core.math, name.replace("arc", "a"))
    halves, floats, doubles, integers = (
        np.linspace(-0.9, 8, 41).astype(dtype)
        for dtype in ("float16", "float32", "float64", "int16")
    )
    results = compute(
        lambda *nodes: [own(node) for node in nodes], halves, floats, doubles, integers
    )
    assert [result.dtype for result in results] == ["float16", "float32", "float64", "float32"]
    with np.errstate(all="ignore"):
        expected = getattr(np, name)
        wide = [values.astype(np.float64) for values in (halves, floats, doubles, integers)]
        for result, values, rtol in zip(results, wide, (1e-3, 1e-6, 1e-14, 1e-6), strict=True):
            np.testing.assert_allclose(result, expected(values), rtol=rtol, atol=1e-6)


def test_other_functions() -> None:
    a = np.array([[4.0, -2.0, 0.25]], np.float32)
    b = np.array([[2], [-1]], np.int8)
    math = dali_core.math
    results = compute(
        lambda x, y: [
            *(math.rsqrt(math.fabs(x)), math.abs(y), math.fabs(y), math.atan2(x, y)),
            *(math.fpow(y, 2), math.pow(y, 2), math.clamp(x, y, 3), math.clamp(x, 0, 1), abs(x)),
        ],
        a,
        b,
    )
    expected = [
        1 / np.sqrt(np.abs(a)),
        np.abs(b),
        np.abs(b).astype(np.float32),
        np.arctan2(a, b.astype(np.float32)),
        b.astype(np.float32) ** 2,
        b.astype(np.int32) ** 2,
        np.clip(a, b.astype(np.float32), 3).astype(np.float32),
        np.clip(a, 0, 1),
        np.abs(a),
    ]
    for result, wanted in zip(results, expected, strict=True):
        assert result.dtype == wanted.dtype
        np.testing.assert_allclose(result, wanted, rtol=1e-6)


def test_functions_of_constants_alone() -> None:
    math = dali_core.math
    results = compute(lambda x: [math.sin(0.5), math.max(2, types.Constant(3).int64())], np.int8(0))
    np.testing.assert_allclose(results[0], np.sin(0.5), rtol=1e-6)
    np.testing.assert_array_equal(results[1], np.int64(3), strict=True)


def test_numbers_on_both_sides() -> None:
    a = np.array([1, 2, 200], np.uint8)
    results = compute(lambda x: [x + 1, 1 - x, 2.5 * x, x / 2, 7 // x, 300 % x, 2**x, x & True], a)
    expected = [
        a.astype(np.int32) + 1,
        1 - a.astype(np.int32),
        2.5 * a.astype(np.float32),
        a.astype(np.float32) / 2,
        7 // a.astype(np.int32),
        300 % a.astype(np.int32),
        np.int32([2, 4, 0]),
        a & 1,
    ]
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, wanted.astype(result.dtype))
        assert result.dtype == wanted.dtype


def test_arrays_on_both_sides() -> None:
    a, b = numbers("int16", (4, 3), 1), numbers("uint8", (3,), 2)
    results = compute(lambda x: [b - x, x - b, b.tolist() * x, b[None] > x, np.uint8(1) + x], a)
    expected = [
        *(b.astype(np.int16) - a, a - b.astype(np.int16), b.astype(np.int32) * a.astype(np.int32)),
        # NumPy numbers as left operands are treated as Python's, as in the reference.
        *(b[None] > a, a.astype(np.int32) + 1),
    ]
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, wanted, strict=True)


def test_halves_are_rounded_once() -> None:
    a, b = numbers("float16", (300,), 4), numbers("float16", (300,), 5)
    results = compute(lambda x, y: [x * y, x / y, x % y, x < y, x * 3], a, b)
    x, y = a.astype(np.float32), b.astype(np.float32)
    expected = [x * y, x / y, np.fmod(x, y), x < y, x * 3]
    for result, wanted in zip(results, expected, strict=True):
        dtype = wanted.dtype if wanted.dtype == bool else np.float16
        np.testing.assert_array_equal(result, wanted.astype(dtype), strict=True)


def test_layouts_and_sources() -> None:
    image = np.zeros((2, 3, 3), np.uint8)
    outputs, _ = run(
        lambda x, y: [x + 1, x + y, x[0] - y, x < y, x + x[..., :1]],
        [[image, np.zeros(3, np.float32)]],
        layout="HWC",
    )
    assert [batch.layout() for batch in outputs] == ["HWC", "HWC", "WC", "HWC", "HWC"]


@pytest.mark.parametrize("num_samples", [1, 7])
@pytest.mark.parametrize("num_threads", [1, 3])
def test_batches_and_threads(num_samples: int, num_threads: int) -> None:
    samples = [
        [numbers("uint8", (height, 17, 3), height), np.float32([1, 2, 3])]
        for height in range(1, 40, 39 // num_samples)
    ][:num_samples]
    results = compute_batch(
        lambda x, y: [(x - y) / 2.0 + x, x * 2], samples, num_threads=num_threads
    )
    for (image, mean), (one, other) in zip(samples, results, strict=True):
        wide = image.astype(np.float32)
        np.testing.assert_array_equal(one, (wide - mean) / np.float32(2) + wide, strict=True)
        np.testing.assert_array_equal(other, image.astype(np.int32) * 2, strict=True)


def test_empty_batches() -> None:
    outputs, counts = run(lambda x: [x * 2 + 1, x[0]], [])
    assert [len(batch) for batch in outputs] == [0, 0]
    assert counts == [(0, 0)]
