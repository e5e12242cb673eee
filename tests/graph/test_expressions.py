"""Expressions: results are NumPy's in the type that operands have in common."""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dali_core.math
from dali_core import DataNode, Pipeline, fn, types
from dali_core.errors import ArgumentTypeError, ArgumentValueError, GraphError, SampleError
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
    """Give the type in which two operands are computed."""
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
    """Compute with NumPy, halves in single precision."""
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
    """Give quotients and remainders of 64-bit integers, rounded towards zero."""
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


# Nodes


def define(build: Callable[[DataNode], Any]) -> Any:
    with Pipeline(batch_size=1, num_threads=1, device_id=None):
        return build(fn.external_source(source=lambda: [np.zeros(3, np.int32)]))


def test_nodes_are_keys() -> None:
    def build(x: DataNode) -> None:
        y = x + 1
        assert {x: "x", y: "y"}[x] == "x"
        assert len({x, y, x}) == 2
        assert x in [x]
        assert [y, x].index(y) == 0

    define(build)


def test_comparing_makes_a_node() -> None:
    results = define(lambda x: [x == 3, x != 3, operator.eq(3, x), x < 2, x > 2, x == +x])
    assert [isinstance(value, DataNode) for value in results] == [True] * 6
    names = [value.source.operator for value in results]
    assert names == [f"operator {name}" for name in ("==", "!=", "==", "<", ">", "==")]


def test_nodes_have_no_truth_value() -> None:
    for use in (bool, list, lambda x: 1 if x == 2 else 0, lambda x: 0 <= x < 5):
        with pytest.raises(GraphError):
            define(use)


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda x: x + "a", ArgumentTypeError, r"operator \+ at .*operands must be .*'a', a str"),
        (lambda x: x == None, ArgumentTypeError, "operator == at .*NoneType"),  # noqa: E711
        (lambda x: 2j * x, ArgumentTypeError, "complex"),
        (lambda x: x + 2**31, ArgumentValueError, r"must fit into INT32 \(got 2147483648\)"),
        (lambda x: x + types.Constant(300).uint8(), ArgumentValueError, "must fit into UINT8"),
        (lambda x: x * [[1], [2, 3]], ArgumentTypeError, "equal lengths"),
        (lambda x: x + np.array(["a"]), ArgumentTypeError, "arrays must hold numbers"),
        (lambda x: dali_core.math.sin("a"), ArgumentTypeError, "math.sin at .*operands must be"),
        (lambda x: x @ x, TypeError, "unsupported operand"),
    ],
)
def test_wrong_operands(use: Callable[[DataNode], Any], error: type, message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        define(use)
    if error is not TypeError:
        assert __file__ in str(caught.value)


def test_expressions_belong_to_a_pipeline() -> None:
    value = define(lambda x: x)
    with pytest.raises(GraphError, match="while a pipeline is being defined"):
        value + 1
    with pytest.raises(GraphError, match="must belong to the pipeline"):
        define(lambda x: x + value)


def line_of(text: str) -> int:
    """Give the number of the first line of this file that has the text."""
    with open(__file__, encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if text in line)


def test_division_by_zero_names_the_line() -> None:
    batches = [[np.int32([1, 2]), np.int32([1, 0])], [np.int32([1, 2]), np.int32([4, 2])]]
    pipeline = Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipeline:
        x = fn.external_source(source=batches)
        y = 8 // (x + 0)  # here
        pipeline.set_outputs(y * 2 + 1)
    try:
        with pytest.raises(SampleError, match="divisors must not be zero") as caught:
            pipeline.run()
        error = caught.value
        assert (error.operator, error.sample) == ("operator //", 1)
        assert error.location == f"{__file__}:{line_of('# here')}"
        assert str(error).startswith(f"operator //, at {error.location}, epoch 0, iteration 0")
        (good,) = pipeline.run()
        np.testing.assert_array_equal(good.at(1), [8 // 4 * 2 + 1, 8 // 2 * 2 + 1])
    finally:
        pipeline.close()


@pytest.mark.parametrize(
    ("build", "arrays", "message"),
    [
        (lambda x, y: [x + y], ("bool", "bool"), "operands must have numbers"),
        (lambda x, y: [-x], ("bool", "bool"), "operands must have numbers"),
        (lambda x, y: [dali_core.math.sin(x)], ("bool", "bool"), "operands must have numbers"),
        (lambda x, y: [x & y], ("int8", "float32"), "must be integers .*int8 and float32"),
        (lambda x, y: [~y], ("int8", "float32"), r"must be integers or bool \(got float32"),
        (lambda x, y: [x % y], ("int8", "int8"), r"must not be zero \(got 0, of type int8"),
    ],
)
def test_refused_types(build: Callable[..., Any], arrays: tuple[str, str], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        compute(build, *(np.zeros(3, dtype) for dtype in arrays))


@pytest.mark.parametrize(
    ("shapes", "layouts", "message"),
    [
        (((2, 3), (4, 3)), ("", ""), r"equal extents.*\(2, 3\) and \(4, 3\)"),
        (((2, 3), (2, 3)), ("HW", "WH"), 'same layout.*"HW" and "WH"'),
        (((2, 3), (3,)), ("HW", "H"), 'same layout.*"HW" and "H"'),
    ],
)
def test_operands_that_do_not_fit(
    shapes: tuple[tuple[int, ...], ...], layouts: tuple[str, str], message: str
) -> None:
    def build(*nodes: DataNode) -> list[DataNode]:
        x, y = (fn.reinterpret(n, layout=of) for n, of in zip(nodes, layouts, strict=True))
        return [x + y]

    with pytest.raises(SampleError, match=message):
        compute(build, *(np.zeros(shape, np.int32) for shape in shapes))


# What nodes know of themselves


def test_attributes_of_nodes() -> None:
    with Pipeline(batch_size=1, num_threads=1, device_id=None):
        x = fn.external_source(
            source=lambda: [np.zeros((2, 3), np.uint8)],
            name="x",
            dtype=types.UINT8,
            ndim=2,
            layout="HW",
        )
        assert (x.name, x.device, x.index) == ("x", "cpu", 0)
        assert (x.dtype, x.ndim, x.layout) == (types.UINT8, 2, "HW")
        assert (x.source.spec.name, str(x)) == ("external_source", repr(x))
        assert repr(x) == "DataNode(name='x', device='cpu')"
        y = x + 1
        assert (y.dtype, y.ndim, y.layout) == (None, None, None)
        assert (+x) is x
        assert x.cpu() is x
        _, second = fn.external_source(source=lambda: [[1], [2]], num_outputs=2, name="both")
        assert (second.index, second.name) == (1, "both[1]")
        with pytest.raises(GraphError, match="must stay on the host"):
            x.gpu()
        with pytest.raises(ArgumentValueError, match="device must be"):
            x.shape(device="gpu")


def test_methods_of_nodes() -> None:
    image = np.zeros((4, 5, 3), np.uint8)

    def build(x: DataNode) -> list[DataNode]:
        shape = x.shape()
        return [
            *(shape, x.shape(dtype=types.FLOAT), shape[0] * shape[1], x.property("layout")),
            *(x.source_info(), (x + 1).property("layout")),
        ]

    results = compute(build, image, layout="HWC")
    expected = [
        *(np.int64([4, 5, 3]), np.float32([4, 5, 3]), np.int64(20), np.uint8([72, 87, 67])),
        *(np.zeros(0, np.uint8), np.uint8([72, 87, 67])),
    ]
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, wanted, strict=True)


def test_sources_of_files(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.bin").write_bytes(bytes([number, 7]))
    pipeline = Pipeline(batch_size=3, num_threads=1, device_id=None)
    with pipeline:
        data, _ = fn.readers.file(file_root=str(tmp_path), files=[f"{i}.bin" for i in range(3)])
        pipeline.set_outputs((1 + data * 2).source_info(), data[0].source_info())
    outputs = pipeline.run()
    for batch in outputs:
        names = [bytes(batch.at(i)).decode() for i in range(3)]
        assert names == ["0.bin", "1.bin", "2.bin"]
    pipeline.close()
