"""Operators that move data or change shapes: bitwise identical to NVIDIA DALI."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest

import dali_core
import dali_core.fn
import dali_core.types

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")

Samples: TypeAlias = "Sequence[np.ndarray]"

NUMBER_TYPES = [
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    "float16",
    "float32",
    "float64",
    "bool",
]
VALUES = np.random.default_rng(0).integers(0, 100, (2, 3, 4)).astype(np.int32)
OTHER = np.random.default_rng(1).integers(0, 100, (3, 2, 4)).astype(np.int32)
MATRICES = (
    np.arange(6, dtype=np.int32).reshape(2, 3),
    np.arange(3, dtype=np.int32).reshape(3, 1),
)


def always(samples: Samples) -> Callable[[], list[np.ndarray]]:
    return lambda: list(samples)


def run(
    library: Any,
    operator: str,
    inputs: Sequence[tuple[Samples, str]],
    per_sample: Mapping[str, Samples],
    constants: Mapping[str, Any],
) -> tuple[list[np.ndarray], str, str]:
    """Return the outputs, their layout and their type."""
    constants = {
        name: getattr(library.types, value) if name == "dtype" else value
        for name, value in constants.items()
    }
    source = library.fn.external_source
    size = len(inputs[0][0])
    pipeline = library.Pipeline(batch_size=size, num_threads=1, device_id=None, seed=1)
    with pipeline:
        nodes = [
            source(source=always(samples), **({"layout": layout} if layout else {}))
            for samples, layout in inputs
        ]
        arguments = {name: source(source=always(values)) for name, values in per_sample.items()}
        pipeline.set_outputs(getattr(library.fn, operator)(*nodes, **arguments, **constants))
    pipeline.build()
    (batch,) = pipeline.run()
    return [np.array(batch.at(i)) for i in range(size)], batch.layout(), batch.dtype.name


def check(
    operator: str,
    *inputs: tuple[Samples, str],
    per_sample: Mapping[str, Samples] | None = None,
    **constants: Any,
) -> None:
    """Run both libraries and compare."""
    expected, *expected_kind = run(reference, operator, inputs, per_sample or {}, constants)
    ours, *our_kind = run(dali_core, operator, inputs, per_sample or {}, constants)
    assert our_kind == expected_kind
    for mine, theirs in zip(ours, expected, strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        assert mine.tobytes() == theirs.tobytes()


def check_refused(operator: str, *inputs: tuple[Samples, str], **constants: Any) -> None:
    """Both libraries reject the call, when it is built or run."""
    for library in (reference, dali_core):
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            run(library, operator, inputs, {}, constants)


@pytest.mark.parametrize("dtype", NUMBER_TYPES)
def test_transpose(dtype: str) -> None:
    samples = [VALUES.astype(dtype), np.ones((40, 35, 3), dtype)]
    check("transpose", (samples, "HWC"))
    for perm in itertools.permutations(range(3)):
        check("transpose", (samples, "HWC"), perm=list(perm))


@pytest.mark.parametrize(
    "arguments",
    [
        {"transpose_layout": False},
        {"output_layout": "ABC"},
        {"output_layout": "ABC", "transpose_layout": False},
    ],
)
@pytest.mark.parametrize("layout", ["", "HWC"])
def test_transpose_layouts(layout: str, arguments: dict[str, Any]) -> None:
    check("transpose", ([VALUES, OTHER], layout), perm=[2, 0, 1], **arguments)


def test_transpose_small_shapes() -> None:
    check("transpose", ([np.int32(4)], ""))
    check("transpose", ([np.arange(3)], "X"), perm=0)
    check("transpose", ([np.zeros((2, 0, 4))], "HWC"))
    check("transpose", ([np.arange(24).reshape(1, 2, 1, 2, 3, 1, 2, 1)], ""))


@pytest.mark.parametrize(
    "arguments",
    [
        {"perm": [2, 0, 0]},
        {"perm": [1, 0]},
        {"perm": [-1, 0, 1]},
        {"perm": []},
        {"output_layout": "AB"},
        {"output_layout": ""},
    ],
)
def test_transpose_errors(arguments: dict[str, Any]) -> None:
    check_refused("transpose", ([VALUES], "HWC"), **arguments)


SHAPE_ARGUMENTS: list[dict[str, Any]] = [
    {"shape": [6, 4]},
    {"shape": [6, 2, 2]},
    {"shape": [6, -1]},
    {"shape": [6, -2]},
    {"shape": -1},
    {"shape": [6.0, 4.0]},
    {"rel_shape": [1.0, 2.0, 0.5]},
    {"rel_shape": [0.5, 8]},
    {"rel_shape": [0.5, -1]},
    {"rel_shape": [1, 1, 0.5, -1]},
    {"rel_shape": [0.7, -1]},
    {"src_dims": [2, 0, 1]},
    {"src_dims": [2, 0, 1], "layout": "CHW"},
    {"src_dims": [-1, 2, 0, 1], "layout": "FCHW"},
    {"src_dims": [-1, 2, 1], "rel_shape": [2, 0.5, 2]},
    {"src_dims": [-1, 2, 1], "rel_shape": [-1, 0.5, 2]},
    {"src_dims": [2, 1, 0], "shape": [4, 3, 2]},
    {"layout": "ABC"},
    {"layout": ""},
    {"layout": "AB", "shape": [6, 4]},
]


@pytest.mark.parametrize("operator", ["reshape", "reinterpret"])
@pytest.mark.parametrize("arguments", SHAPE_ARGUMENTS)
def test_reshape(operator: str, arguments: dict[str, Any]) -> None:
    check(operator, ([VALUES], "HWC"), **arguments)


def test_relative_shapes_round() -> None:
    for extent in (5, 6, 7, 15, 35):
        values = np.zeros((extent, 60, 60), np.uint8)
        for factor in (0.2, 0.3, 0.5, 0.7, 0.9):
            extents = [int(extent * factor) + 1, int(extent * factor)]
            if all((extent * 3600) % number == 0 for number in extents if number):
                check("reshape", ([values], ""), rel_shape=[factor, -1])


@pytest.mark.parametrize("operator", ["reshape", "reinterpret"])
def test_reshape_per_sample(operator: str) -> None:
    samples = [VALUES, OTHER]
    shapes = [np.int32([6, 4]), np.int32([4, -1])]
    check(operator, (samples, ""), per_sample={"shape": shapes})
    check(operator, (samples, ""), (shapes, ""))
    check(operator, (samples, "HWC"), (shapes, ""), layout="AB")
    check(operator, (samples, ""), ([shape.astype(np.int64) for shape in shapes], ""))
    factors = [np.float32([0.5, 2, -1])] * 2
    check(operator, ([VALUES] * 2, "HWC"), per_sample={"rel_shape": factors})
    check(operator, ([np.zeros((0, 3))], ""), per_sample={"shape": [np.int32([0, 3])]})


@pytest.mark.parametrize("operator", ["reshape", "reinterpret"])
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"shape": [-1, -1]},
        {"shape": [5, -1]},
        {"shape": [5, 4]},
        {"shape": [0, -1]},
        {"shape": []},
        {"shape": [6, 4], "rel_shape": [1.0, 2.0]},
        {"rel_shape": [0.5, 1]},
        {"rel_shape": [1, 1, 1, 1]},
        {"rel_shape": [1, -1, -1]},
        {"rel_shape": [1, -1, 2]},
        {"rel_shape": [0, -1]},
        {"rel_shape": [0.01, -1]},
        {"rel_shape": []},
        {"src_dims": [3, 2, 0, 1]},
        {"src_dims": [-2, 2, 0, 1]},
        {"src_dims": [2, 0]},
        {"src_dims": [-1, 2, 1], "rel_shape": [0.5, 2]},
        {"layout": "AB"},
    ],
)
def test_reshape_errors(operator: str, arguments: dict[str, Any]) -> None:
    check_refused(operator, ([VALUES], "HWC"), **arguments)


@pytest.mark.parametrize("source", NUMBER_TYPES)
def test_reinterpret_types(source: str) -> None:
    values = (np.arange(16).reshape(2, 8) % 2).astype(source)
    for target in NUMBER_TYPES:
        name = {"float32": "FLOAT"}.get(target, target.upper())
        check("reinterpret", ([values], "AB"), dtype=name)


@pytest.mark.parametrize(
    "arguments",
    [
        {"shape": [-1]},
        {"shape": [-1, 2]},
        {"rel_shape": [1, 0.5]},
        {"rel_shape": [1, -1]},
        {"src_dims": [1, 0]},
        {"layout": "CD"},
    ],
)
def test_reinterpret_shapes(arguments: dict[str, Any]) -> None:
    values = np.arange(8, dtype=np.uint8).reshape(2, 4)
    check("reinterpret", ([values], "AB"), dtype="INT16", **arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"axes": [0, 2]},
        {"axes": [2, 0]},
        {"axes": 0},
        {"axes": []},
        {"axis_names": "AC"},
        {"axis_names": "CA"},
        {"axis_names": ""},
    ],
)
def test_squeeze(arguments: dict[str, Any]) -> None:
    check("squeeze", ([np.arange(6).reshape(1, 3, 1, 2)], "ABCD"), **arguments)


def test_squeeze_of_empty_arrays() -> None:
    check("squeeze", ([np.zeros((0, 3, 2))], "ABC"), axes=[1])
    check("squeeze", ([np.zeros((0, 0, 2))], "ABC"), axes=[0])
    check("squeeze", ([np.zeros((1, 1))], "AB"), axes=[0, 1])
    check_refused("squeeze", ([np.zeros((0, 3, 2))], "ABC"), axes=[0])


@pytest.mark.parametrize(
    "arguments",
    [{}, {"axes": [1]}, {"axes": [0, 0]}, {"axis_names": "X"}, {"axis_names": "A", "axes": [0]}],
)
def test_squeeze_errors(arguments: dict[str, Any]) -> None:
    check_refused("squeeze", ([np.zeros((1, 3))], "AB"), **arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"axes": 0},
        {"axes": []},
        {"axes": 0, "new_axis_names": "F"},
        {"axes": [0, 3], "new_axis_names": "FX"},
        {"axes": [3, 0], "new_axis_names": "FX"},
        {"axes": [3, 4], "new_axis_names": "FX"},
        {"axes": [1], "new_axis_names": "H"},
    ],
)
def test_expand_dims(arguments: dict[str, Any]) -> None:
    check("expand_dims", ([VALUES, OTHER], "HWC"), **arguments)


def test_expand_dims_of_scalars() -> None:
    check("expand_dims", ([np.int32(3)], ""), axes=[0, 1], new_axis_names="AB")


@pytest.mark.parametrize(
    "arguments",
    [
        {"axes": [4]},
        {"axes": [0, 0]},
        {"axes": [-1]},
        {"axes": [1], "new_axis_names": "FX"},
    ],
)
def test_expand_dims_errors(arguments: dict[str, Any]) -> None:
    check_refused("expand_dims", ([VALUES], "HWC"), **arguments)


def test_copy() -> None:
    check("copy", ([VALUES, OTHER], "HWC"))
    check("copy", ([np.zeros((0, 3))], ""))


@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")
def test_shapes() -> None:
    check("shapes", ([VALUES, OTHER], "HWC"))
    check("shapes", ([np.int32(1)], ""))
    for dtype in ("INT32", "UINT32", "INT64", "UINT64", "FLOAT", "FLOAT64"):
        check("shapes", ([VALUES, OTHER], "HWC"), dtype=dtype)
    check_refused("shapes", ([VALUES], "HWC"), dtype="UINT8")


@pytest.mark.parametrize("dtype", NUMBER_TYPES)
@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_cat(axis: int, dtype: str) -> None:
    first, second = (matrix.astype(dtype) for matrix in MATRICES)
    wide = np.concatenate([first, first], axis)
    check("cat", ([first], "HW"), ([wide], "HW"), ([first], ""), axis=axis)
    check("cat", ([second], "HW"), axis=axis)


def test_cat_layouts() -> None:
    first = MATRICES[0]
    check("cat", ([first], "HW"), ([first], "HW"), axis_name="W")
    check("cat", ([first], ""), ([first], "HW"))
    check("cat", ([first], "AB"), ([first], "HW"))


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (0, 5)])
@pytest.mark.parametrize("axis", [0, 1])
def test_cat_of_empty_arrays(axis: int, shape: tuple[int, int]) -> None:
    nothing = np.zeros(shape, np.int32)
    check("cat", ([MATRICES[0]], "HW"), ([nothing], "HW"), axis=axis)
    check("cat", ([nothing], "HW"), ([MATRICES[0]], "HW"), axis=axis)


@pytest.mark.parametrize(
    ("second", "arguments"),
    [
        (MATRICES[0], {"axis": 2}),
        (MATRICES[0], {"axis": -3}),
        (MATRICES[0], {"axis_name": "X"}),
        (MATRICES[0], {"axis": 0, "axis_name": "H"}),
        (MATRICES[0], {"axis_name": "HW"}),
        (MATRICES[0].astype(np.float32), {}),
        (MATRICES[0][0], {}),
        (MATRICES[1], {}),
    ],
)
def test_cat_errors(second: np.ndarray, arguments: dict[str, Any]) -> None:
    check_refused("cat", ([MATRICES[0]], "HW"), ([second], ""), **arguments)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2])
@pytest.mark.parametrize("name", [None, "C", "H"])
def test_stack(axis: int, name: str | None) -> None:
    names = {} if name is None else {"axis_name": name}
    batch = (MATRICES, "HW")
    check("stack", batch, axis=axis, **names)
    check("stack", batch, batch, batch, axis=axis, **names)


def test_stack_scalars() -> None:
    scalars = [([np.int32(1)], ""), ([np.int32(2)], "")]
    check("stack", *scalars)
    check("stack", *scalars, axis_name="X")
    check_refused("stack", *scalars, axis=-1)


@pytest.mark.parametrize(
    ("second", "arguments"),
    [
        (MATRICES[0], {"axis": 3}),
        (MATRICES[0], {"axis": -3}),
        (MATRICES[0], {"axis_name": "CD"}),
        (MATRICES[0].astype(np.float32), {}),
        (MATRICES[1], {}),
    ],
)
def test_stack_errors(second: np.ndarray, arguments: dict[str, Any]) -> None:
    check_refused("stack", ([MATRICES[0]], "HW"), ([second], ""), **arguments)


# The reference does not pad 64-bit floating-point numbers.
@pytest.mark.parametrize("dtype", [name for name in NUMBER_TYPES if name != "float64"])
@pytest.mark.parametrize("value", [0.0, 7.0, 2.5, 0.3])
def test_pad_types(dtype: str, value: float) -> None:
    check("pad", ([matrix.astype(dtype) for matrix in MATRICES], "HW"), fill_value=value)


PAD_ARGUMENTS: list[dict[str, Any]] = [
    {},
    {"axes": [0]},
    {"axes": [-1]},
    {"axes": []},
    {"axis_names": "W"},
    {"shape": [4, 4]},
    {"shape": [1, 1]},
    {"shape": [4, -1]},
    {"shape": [0, 0]},
    {"shape": 4},
    {"axes": [1, 0], "shape": [4, 5]},
    {"axes": [0, 1], "shape": [4]},
    {"align": [4, 5]},
    {"align": 2},
    {"axes": [1], "align": 2},
    {"align": [2, 2], "shape": [1, 1]},
]


@pytest.mark.parametrize("arguments", PAD_ARGUMENTS)
def test_pad(arguments: dict[str, Any]) -> None:
    check("pad", (MATRICES, "HW"), fill_value=-1.7, **arguments)


@pytest.mark.parametrize("value", [300.0, -3.0, 255.9])
def test_pad_with_numbers_out_of_range(value: float) -> None:
    check("pad", ([matrix.astype(np.uint8) for matrix in MATRICES], "HW"), fill_value=value)


def test_pad_per_sample() -> None:
    for per_sample in (
        {"shape": [np.int32([4, 4]), np.int32([5, -1])]},
        {"align": [np.int32([4, 4]), np.int32([5, 1])]},
        {"axes": [np.int32([0]), np.int32([1])]},
        {"axes": [np.int32([0]), np.int32([1, 0])]},
        {"fill_value": [np.float32(2.6), np.float32(-3)]},
    ):
        check("pad", (MATRICES, "HW"), per_sample=per_sample)


@pytest.mark.parametrize(
    "arguments",
    [
        {"axes": [0, 0]},
        {"axes": [0, -2]},
        {"axes": [2]},
        {"axis_names": "X"},
        {"axis_names": "W", "axes": [1]},
        {"axes": [1], "shape": [4, 5]},
        {"axes": [1], "align": [2, 3]},
        {"align": 0},
    ],
)
def test_pad_errors(arguments: dict[str, Any]) -> None:
    check_refused("pad", (MATRICES, "HW"), **arguments)
