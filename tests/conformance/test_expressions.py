"""Expressions: types and values for all pairs of types, compared with NVIDIA DALI.

Where this library differs on purpose:

* ``FLOAT16`` is computed: in 32-bit floating point, then rounded. The reference rejects it.
* The quotient of the lowest integer and -1 wraps around, as sums do; the reference crashes.
* `math.rsqrt` of 0 is infinite; in 32-bit floating point the reference returns NaN.
* Constants of ``FLOAT64`` keep their precision; numbers of NumPy in ``float64`` and arrays on the
  left of an operator serve as operands (as ``FLOAT``, and as constants).
* Functions and operators on constants alone make a node.
* Comparisons of negative integers with negative floating point numbers are right; in the reference
  -2 is less than -7.25.
* Any pattern of broadcasting is supported, not only six groups of dimensions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.math
from tests.conformance.comparing import FLOATS, INTEGERS, always

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.math", reason="not available: NVIDIA DALI")

LIBRARIES = (dali_core, reference)
TYPES = ["bool", *INTEGERS, "float32", "float64"]

Build = Callable[[Any, list[Any]], list[Any]]
Result = tuple[list[np.ndarray], list[str], list[str]]


def numbers(dtype: str) -> np.ndarray:
    """Return sixteen numbers, including the limits of the range, and none that is 0 at the end."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([0, 1] * 8, dtype)
    if kind == "f":
        values = [0, -0.0, 1, -1, 0.5, -1.5, 2, -7.25, 3e4, 1e-3, 100.5, 7, -3, 2.5, 9, 12.75]
        return np.array(values, dtype)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    small = range(-4 if low else 0, 6 if low else 10)
    return np.array([low, high, low + 1, high - 1, high // 2, 100, *small], dtype)


def divisors(dtype: str) -> np.ndarray:
    """Return the same numbers in reverse, without those that are invalid as divisors."""
    values = numbers(dtype)[::-1].copy()
    values[values == 0] = 1
    if np.dtype(dtype).kind == "i":
        values[values == -1] = 3
    return values


def run(library: Any, inputs: Sequence[np.ndarray], build: Build, layout: str = "") -> Result:
    """Return samples, dtypes and layouts of a graph of some inputs."""
    pipeline = library.Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipeline:
        nodes = [
            library.fn.external_source(source=always([value]), layout=layout or None)
            if value.ndim == len(layout)
            else library.fn.external_source(source=always([value]))
            for value in inputs
        ]
        pipeline.set_outputs(*build(library, nodes))
    pipeline.build()
    outputs = pipeline.run()
    return (
        [np.array(batch.at(0)) for batch in outputs],
        [batch.dtype.name for batch in outputs],
        [batch.layout() for batch in outputs],
    )


def check(
    inputs: Sequence[np.ndarray],
    build: Build,
    *,
    layout: str = "",
    rtol: float = 0,
) -> None:
    ours, theirs = (run(library, inputs, build, layout) for library in LIBRARIES)
    assert ours[1:] == theirs[1:]
    for one, other in zip(ours[0], theirs[0], strict=True):
        assert one.shape == other.shape
        if rtol and one.dtype.kind == "f":
            np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-30)
        else:
            np.testing.assert_array_equal(one, other)


def check_refused(inputs: Sequence[np.ndarray], build: Build, *, layout: str = "") -> None:
    for library in LIBRARIES:
        with pytest.raises((RuntimeError, ValueError, TypeError, OverflowError)):
            run(library, inputs, build, layout)


ARITHMETIC = ["add", "sub", "mul", "truediv", "floordiv", "mod"]
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]
BITWISE = ["and_", "or_", "xor", "lshift", "rshift"]
OF_MATH = ["min", "max", "pow", "fpow", "atan2"]


def pairs(refused: Callable[[str, str], bool]) -> list[tuple[str, str]]:
    return [(one, other) for one in TYPES for other in TYPES if not refused(one, other)]


def refuses_bool(one: str, other: str) -> bool:
    return one == other == "bool"


def refuses_floats(one: str, other: str) -> bool:
    return "float" in one + other


def are_signed_and_float(one: str, other: str) -> bool:
    return one[0] + other[0] in ("if", "fi")


def check_pairs(
    function: Callable[[Any, Any, Any], Any], refused: Callable[[str, str], bool], rtol: float
) -> None:
    inputs = [*(numbers(dtype) for dtype in TYPES), *(divisors(dtype) for dtype in TYPES)]

    def build(library: Any, nodes: list[Any]) -> list[Any]:
        left = dict(zip(TYPES, nodes, strict=False))
        right = dict(zip(TYPES, nodes[len(TYPES) :], strict=True))
        return [function(library, left[one], right[other]) for one, other in pairs(refused)]

    check(inputs, build, rtol=rtol)


@pytest.mark.parametrize("name", [*ARITHMETIC, *COMPARISONS, *BITWISE])
def test_operators_on_all_pairs(name: str) -> None:
    refused = refuses_floats if name in BITWISE else refuses_bool
    if name == "mul":
        refused = lambda one, other: False  # noqa: E731
    if name in COMPARISONS:
        refused = are_signed_and_float
    compute = getattr(operator, name)
    check_pairs(lambda library, one, other: compute(one, other), refused, 0)


@pytest.mark.parametrize("integer", ["int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("real", ["float32", "float64"])
def test_comparisons_of_integers_with_floats(integer: str, real: str) -> None:
    values = [numbers(integer), np.abs(divisors(real))]
    functions = [getattr(operator, name) for name in COMPARISONS]
    check(
        values,
        lambda library, nodes: [
            compute(*pair) for compute in functions for pair in (nodes, nodes[::-1])
        ],
    )
    # Of two negative numbers the reference treats the lower one as the greater.
    negative = [np.array([-2, -3], integer), np.array([-7.25, -2.5], real)]
    results, _, _ = run(
        dali_core, negative, lambda library, nodes: [compute(*nodes) for compute in functions]
    )
    for compute, result in zip(functions, results, strict=True):
        np.testing.assert_array_equal(result, compute(*negative))


@pytest.mark.parametrize("name", OF_MATH)
def test_functions_of_math_on_all_pairs(name: str) -> None:
    import nvidia.dali.math  # noqa: F401

    exact = name in ("min", "max")
    check_pairs(
        lambda library, one, other: getattr(library.math, name)(one, other),
        refuses_bool,
        0 if exact else 1e-5,
    )


UNARY = {
    "neg": operator.neg,
    "pos": operator.pos,
    "abs": abs,
    "invert": operator.invert,
}
FUNCTIONS = [
    *(
        [
            "abs",
            "acos",
            "acosh",
            "asin",
            "asinh",
            "atan",
            "atanh",
            "cbrt",
            "ceil",
            "cos",
            "cosh",
            "exp",
            "fabs",
            "floor",
            "log",
            "log10",
            "log2",
        ]
    ),
    *(["sin", "sinh", "sqrt", "tan", "tanh", "rsqrt"]),
]


@pytest.mark.parametrize("name", UNARY)
def test_unary_operators(name: str) -> None:
    known = [dtype for dtype in TYPES if dtype != "bool" or name in ("pos", "invert")]
    if name == "invert":
        known = [dtype for dtype in known if "float" not in dtype]
    check(
        [numbers(dtype) for dtype in known], lambda library, nodes: [UNARY[name](x) for x in nodes]
    )


def test_functions_of_one_operand() -> None:
    known = [dtype for dtype in TYPES if dtype != "bool"]
    inputs = [numbers(dtype) for dtype in known]
    positive = [np.abs(values[values > 0]) for values in inputs]

    def build(library: Any, nodes: list[Any]) -> list[Any]:
        functions = [getattr(library.math, name) for name in FUNCTIONS]
        half = len(known)
        return [
            function(x)
            for function, name in zip(functions, FUNCTIONS, strict=True)
            for x in (nodes[half:] if name == "rsqrt" else nodes[:half])
        ]

    check([*inputs, *positive], build, rtol=2e-6)


@pytest.mark.parametrize("refused", ["bool", "float"])
def test_invalid_types(refused: str) -> None:
    values = numbers("bool") if refused == "bool" else numbers("float32")
    names = [*ARITHMETIC, "pow", "neg", "abs"] if refused == "bool" else [*BITWISE, "invert"]
    for name in set(names) - {"mul"}:
        compute = getattr(operator, name)
        arity = 1 if name in ("neg", "abs", "invert") else 2
        check_refused(
            [values],
            lambda library, nodes, compute=compute, arity=arity: [compute(*nodes * arity)],
        )


SCALARS = [
    *(1, -1, 2.5, True, np.uint8(1), np.int64(2), np.int16(3), np.uint32(4), np.uint64(4)),
    *(np.float32(1.5), np.bool_(True), np.array(3, np.uint8), np.array([3], np.uint8), [1], (1, 2)),
    *([1.5], np.array([1.5]), np.array([2, 3], np.int64)),
]


def constants(library: Any) -> list[Any]:
    types = library.types
    return [
        types.Constant(2).uint8(),
        types.Constant(2).int64(),
        types.Constant(2, types.FLOAT64),
        types.Constant(2.5, types.INT8),
        types.ScalarConstant(0.5, types.FLOAT64),
        types.Constant(True),
        types.Constant([1, 2]),
        types.Constant(np.array([1, 2], np.uint16)),
        types.Constant(7, shape=(2, 2), dtype=types.UINT8),
    ]


def test_constants_as_operands() -> None:
    known = [dtype for dtype in TYPES if dtype != "bool"]

    def build(library: Any, nodes: list[Any]) -> list[Any]:
        operands = [*SCALARS, *constants(library)]
        results = [x * value for x in nodes for value in operands]
        results += [x - value for x in nodes for value in operands]
        results += [x >= value for x in nodes for value in operands]
        # In the reference, NumPy's operator takes precedence if its left operand is a NumPy object.
        plain = [value for value in SCALARS if not isinstance(value, np.ndarray)]
        return results + [value - x for x in nodes for value in (*plain, *constants(library))]

    check([np.abs(numbers(dtype)[4:6]) for dtype in known], build)


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 2**40, "a", None, 1j])
def test_invalid_constants(value: Any) -> None:
    check_refused([numbers("int64")], lambda library, nodes: [nodes[0] + value])
    check_refused([numbers("int64")], lambda library, nodes: [value * nodes[0]])


def test_clamp() -> None:
    values = [numbers(dtype) for dtype in ("uint8", "int16", "float32", "uint64")]

    def build(library: Any, nodes: list[Any]) -> list[Any]:
        clamp = library.math.clamp
        bounds = [(1, 3), (1.5, 3), (3, 1), (-5, 300), (np.uint8(2), np.uint8(100))]
        results = [clamp(x, *pair) for x in nodes for pair in bounds]
        return [*results, clamp(nodes[0], nodes[1], nodes[2]), clamp(5, nodes[0], 7)]

    check(values, build)


def test_numbers_that_are_none() -> None:
    values = np.array([np.nan, 1, -1, np.inf, -np.inf, 0.0, -0.0], np.float32)

    def build(library: Any, nodes: list[Any]) -> list[Any]:
        (x,) = nodes
        math = library.math
        return [
            *(math.min(x, 0.0), math.min(0.0, x), math.max(x, 0.0), math.max(0.0, x)),
            *(math.clamp(x, 0, 0.5), x == +x, x != +x, x < 0, x // 0.0, x % 2, x**-1, x**2),
        ]

    check([values], build)


SHAPES = [
    ((2, 3), (3,)),
    ((2, 3), (2, 1)),
    ((2, 3), (1,)),
    ((2, 3), ()),
    ((), ()),
    ((2, 1, 3), (4, 1)),
    ((0, 3), (1, 3)),
    ((2, 0), (2, 1)),
    ((1,), (0,)),
    ((1, 1, 1, 1), (2,)),
    ((2, 1, 2, 1, 2, 1), (1, 2, 1, 2, 1, 2)),
    ((2, 1, 2, 1, 2, 1, 2, 1), (1, 2)),
    ((40, 50, 3), (3,)),
    ((40, 50, 3), (40, 1, 3)),
    ((40, 1, 3), (50, 1)),
]


def test_broadcasting() -> None:
    sizes = [shape for pair in SHAPES for shape in pair]
    values = [np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape) for shape in sizes]

    def build(library: Any, nodes: list[Any]) -> list[Any]:
        both = zip(nodes[::2], nodes[1::2], strict=True)
        return [result for one, other in both for result in (one - other, other * 2.5 - one)]

    check(values, build)


@pytest.mark.parametrize("shapes", [((2, 3), (4, 3)), ((2, 3), (2,)), ((0, 3), (2, 3))])
def test_shapes_that_do_not_fit(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    values = [np.zeros(shape, np.int32) for shape in shapes]
    check_refused(values, lambda library, nodes: [nodes[0] + nodes[1]])


IMAGE = np.arange(18, dtype=np.int32).reshape(2, 3, 3)


def with_layout(library: Any, node: Any, layout: str) -> Any:
    return library.fn.reinterpret(node, layout=layout) if layout else node


@pytest.mark.parametrize(
    ("one", "other", "fits"),
    [
        ("HWC", "HWC", True),
        ("HWC", "", True),
        ("", "HWC", True),
        ("HWC", "C", True),
        ("C", "HWC", True),
        ("WC", "HWC", True),
        ("", "C", True),
        ("C", "", True),
        ("HWC", "CHW", False),
        ("HWC", "W", False),
        ("HW", "HWC", False),
    ],
)
def test_layouts(one: str, other: str, fits: bool) -> None:
    def build(library: Any, nodes: list[Any]) -> list[Any]:
        left = with_layout(library, nodes[0], one)
        right = with_layout(library, nodes[1], other)
        return [left + right, -left, right < left]

    values = [IMAGE[(0,) * (3 - len(layout))] if layout else IMAGE for layout in (one, other)]
    if fits:
        check(values, build)
    else:
        check_refused(values, build)


def test_zero_as_a_divisor() -> None:
    for name in ("floordiv", "mod"):
        compute = getattr(operator, name)
        check_refused([numbers("int16")], lambda _, nodes, compute=compute: [compute(nodes[0], 0)])
    check([np.zeros(0, np.int32)], lambda _, nodes: [nodes[0] // 0, nodes[0] % 0, nodes[0] / 0])
    values = [numbers(dtype) for dtype in ("uint8", "int32", "float32")]
    check(values, lambda _, nodes: [f for x in nodes for f in (x / 0, x // 0.0, x % 0.0)])


def test_methods_of_nodes() -> None:
    def build(library: Any, nodes: list[Any]) -> list[Any]:
        (x,) = nodes
        types = library.types
        return [
            *(x.shape(), x.shape(dtype=types.FLOAT), x.shape()[0], x.property("layout")),
            *(x.source_info(), +x, x.cpu(), x.shape()[0] * x.shape()[1]),
        ]

    check([IMAGE], build, layout="HWC")


def test_constants_as_nodes() -> None:
    def build(library: Any, nodes: list[Any]) -> list[Any]:
        make, types = library.types.Constant, library.types
        return [
            make(np.array([1, 2, 3], np.uint8)),
            make(np.array([1, 2, 3.0])),
            make([1, 2, 3]),
            make([1, 2.5, 3]),
            make([True, False]),
            make([True, 2]),
            make([]),
            make(7, shape=(2, 2), layout="HW"),
            make(7, device="cpu"),
            make(7, name="seven"),
            make([1.7, -1.7, 300], dtype=types.UINT8),
            make(np.array([1.5], np.float16)),
            make(np.array([True, False])),
            make(np.arange(6, dtype=np.int16), shape=(2, 3), dtype=types.FLOAT),
            make(2**40, dtype=types.INT64, device="cpu"),
            make(np.zeros((2, 0), np.float32)),
            types.ConstantNode("cpu", [1, 2], types.UINT8, None, None),
        ]

    check([IMAGE], build)


def test_constants_as_inputs() -> None:
    image = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)

    def build(library: Any, nodes: list[Any]) -> list[Any]:
        (x,) = nodes
        fn, types = library.fn, library.types
        return [
            fn.filter(x, np.ones((3, 3))),
            fn.filter(x, np.ones((3, 3), np.float32)),
            fn.warp_affine(x, matrix=np.array([[1, 0, 1], [0, 1, 0.0]])),
            fn.stack(x[0, 0], np.array([1, 2, 3], np.uint8)),
            fn.cast(5, dtype=types.FLOAT),
            fn.cast(types.Constant(5).uint8(), dtype=types.FLOAT),
            fn.crop(x, crop_h=types.Constant(2), crop_w=types.Constant(np.float32(2))),
            fn.rotate(x, angle=types.Constant(90.0)),
            fn.reductions.sum(np.array([1, 2, 3])),
        ]

    check([image], build, layout="HWC")


def test_outputs_that_are_constants() -> None:
    values = [5, 2.5, [1, 2], np.ones((2, 2), np.float32)]
    check([IMAGE], lambda library, nodes: [*values, library.types.Constant(5)])


def test_half_precision_is_computed_in_single_precision() -> None:
    assert "float16" in FLOATS
    values = numbers("float16")
    results, names, _ = run(
        dali_core, [values], lambda library, nodes: [nodes[0] * 2, nodes[0] + 0.1, -nodes[0]]
    )
    assert names == ["FLOAT16", "FLOAT", "FLOAT16"]
    np.testing.assert_array_equal(results[0], (values.astype(np.float32) * 2).astype(np.float16))
    np.testing.assert_array_equal(results[1], values.astype(np.float32) + np.float32(0.1))
    np.testing.assert_array_equal(results[2], -values)


def test_lists_of_nodes_as_inputs() -> None:
    def build(library: Any, nodes: list[Any]) -> list[Any]:
        x, y = nodes
        fn, types = library.fn, library.types
        return [
            *fn.cast([x, y], dtype=types.FLOAT),
            *fn.cat([x, y], y),
            *fn.cat([x, y], [y, x]),
            *fn.cat([x, y], np.ones(3, np.int32)),
            fn.cast([x], dtype=types.INT8),
        ]

    check([np.arange(4, dtype=np.int32), np.arange(3, dtype=np.int32)], build)
